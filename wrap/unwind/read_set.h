/* read_set.h - where on the stack a walk found what it read.
 *
 * A walk is a function of where it starts and of the stack words that its steps depend on: return
 * addresses, and words that hold addresses of the stack itself (saved frame pointers, the CFA of a
 * realigned frame), as far as a step used them.  Addresses of the stack matter only relative to sp.  So when
 * another stack has its return addresses at the same places, with the same values, and the words that lead
 * there lead to the same places, a walk would find the same backtrace: exactly.  stack_cache.h uses this to
 * recognize stacks instead of walking them.
 *
 * Where a step had to choose by other words, the choice is remembered with the return address (rule_cache.h).
 * From then on the step depends on the word alone that it led to.
 *
 * Places are counted in words above sp.
 */
#ifndef LEAKWRAP_READ_SET_H
#define LEAKWRAP_READ_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/module/modules.h"

#define LEAKWRAP_STACK_INDEX_MAX  0xfffeu
#define LEAKWRAP_STACK_INDEX_NONE 0xffffu

/* The word at PLACE is the address of the place TARGET. */
struct leakwrap_stack_link {
	uint16_t place, target;
};

/* What a walk notes while it runs.  The arrays are the caller's, with room for as many places, and twice
 * as many checks, as the trace may have frames. */
struct leakwrap_read_set {
	const void *modules; /* the snapshot that was current then */
	uintptr_t sp;        /* where the walk began */
	uint16_t *place;
	struct leakwrap_stack_link *check;
	uint16_t returns; /* places of return addresses: of the frames 1, 2, ... */
	uint16_t checks;
	uint16_t fp_target; /* what fp pointed to at the start, when a step used that, or NONE */
	uint16_t end_place; /* of a word with which no walk can go on, or NONE */
	uintptr_t end_word;
	bool usable; /* the backtrace depends on nothing but what is noted here */
};

static inline void leakwrap_read_set_begin(struct leakwrap_read_set *notes, uintptr_t sp)
{
	notes->modules = leakwrap_modules();
	notes->sp = sp;
	notes->returns = notes->checks = 0;
	notes->fp_target = notes->end_place = LEAKWRAP_STACK_INDEX_NONE;
	notes->end_word = 0;
	notes->usable = false;
}

/* The place of ADDRESS, or LEAKWRAP_STACK_INDEX_NONE when it has none. */
static inline uint16_t leakwrap_stack_index_of(uintptr_t address, uintptr_t sp)
{
	uintptr_t place = (address - sp) / sizeof(uintptr_t);

	return address % sizeof(uintptr_t) == sp % sizeof(uintptr_t) &&
	                       place <= LEAKWRAP_STACK_INDEX_MAX
	               ? (uint16_t)place
	               : LEAKWRAP_STACK_INDEX_NONE;
}

#endif
