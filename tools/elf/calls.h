/* calls.h - who calls what in a linked program, without a disassembler.
 *
 * A call or jump encodes a distance.  At each place where such an instruction may stand, the
 * address that it would go to is compared with those asked for.  A few addresses in 2^32 are not
 * hit by chance.
 */
#ifndef TOOLS_CALLS_H
#define TOOLS_CALLS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address that is asked for. */
struct target {
	uint64_t address;
	size_t symbol; /* the caller's own number */
	bool slot;     /* ADDRESS is not code: it holds a pointer (a GOT entry) */
};

struct targets {
	struct target *all;
	size_t count, room;
};

/* Adds a target.  The caller frees the vector. */
void targets_add(struct targets *targets, uint64_t address, size_t symbol, bool slot);

/* Returns true if code for MACHINE (EM_…) can be searched. */
bool calls_are_known(int machine);

/* Adds to TARGETS the slots that already hold a target, and the entries of the procedure linkage
 * table that go through slots among TARGETS. */
void calls_add_plt(Elf *elf, int machine, struct targets *targets);

/* Calls SEEN, with CONTEXT, for each instruction that goes to a target or takes its address.  Sorts
 * TARGETS.  BEHIND is the address to which a call returns.  It is 0 for a jump, for a call through
 * a slot, and if the address is only taken. */
typedef void call_seen(void *context, uint64_t pc, uint64_t behind, const struct target *target);
void calls_find(Elf *elf, int machine, struct targets *targets, call_seen *seen, void *context);

#endif
