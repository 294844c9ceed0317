/* calls.h - who calls what in a linked program, without disassembling it.
 *
 * A call or jump is found by its encoded distance: at every place of the code where an instruction of
 * that form may stand, the address that it would go to is computed and compared with those asked for.
 * That a stray pattern hits one of a few addresses in 2^32 by chance is not to be feared.
 */
#ifndef TOOLS_CALLS_H
#define TOOLS_CALLS_H

#include <gelf.h>

#include "tools/util.h"

/* An address that is asked for. */
struct target {
	uint64_t address;
	size_t symbol; /* the asker's own number */
	bool slot;     /* ADDRESS is not code: it holds a pointer (a GOT entry) */
};

struct targets {
	struct target *all;
	size_t count, room;
};

/* The vector is the asker's to free. */
void targets_add(struct targets *targets, uint64_t address, size_t symbol, bool slot);

/* Can the code of this machine (EM_…) be searched? */
bool calls_known(int machine);

/* Adds to TARGETS the slots that hold the address of one already, and the entries of the procedure linkage
 * table that go through its slots. */
void calls_add_plt(Elf *elf, int machine, struct targets *targets);

/* Calls SEEN for each instruction at PC that goes to, or takes the address of, a target; sorts TARGETS for that. */
typedef void call_seen(void *context, uint64_t pc, const struct target *target);
void calls_find(Elf *elf, int machine, struct targets *targets, call_seen *seen, void *context);

#endif
