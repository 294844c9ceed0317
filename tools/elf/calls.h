/* calls.h - who calls what in a linked program, without a disassembler.
 *
 * A call or jump encodes a distance.  At each place where such an instruction may stand, the
 * address that it would go to is compared with those asked for.  These are few among 2^32, so other
 * bytes hardly lead to one by chance.
 */
#ifndef TOOLS_ELF_CALLS_H
#define TOOLS_ELF_CALLS_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/elf/targets.h"

/* Returns true if code for MACHINE (EM_…) can be searched. */
bool calls_are_known(int machine);

/* Calls SEEN, with CONTEXT, for each instruction that goes to a target or takes its address.  Sorts
 * TARGETS.  BEHIND is the address to which a call returns.  It is 0 for a jump, for a call through
 * a slot, and if the address is only taken. */
typedef void call_seen(void *context, uint64_t pc, uint64_t behind, const struct target *target);
void calls_find(Elf *elf, int machine, struct targets *targets, call_seen *seen, void *context);

#endif
