/* layout.h - where on the stack a walk found what it read: the form of a stack, without its contents.
 *
 * A walk is a function of where it starts and of the stack words that its steps depend on: return
 * addresses, and words that hold addresses of the stack itself (saved frame pointers, the CFA of a
 * realigned frame), as far as a step used them.  Addresses of the stack matter only relative to sp.  So when
 * another stack has its return addresses at the same places, with the same values, and the words that lead
 * there lead to the same places, a walk would find the same backtrace: exactly.  sites.c uses this to
 * recognize stacks instead of walking them.
 *
 * Places are counted in words above sp.  Layouts are interned: two that are equal are the same object, and
 * none ever dies.  Which steps a walk takes also follows from the tables of the modules that its return addresses lie
 * in.  A layout is good for the modules that were loaded when a walk had it last, and belongs to what may be unloaded
 * of those that it goes through: nothing, one module, or all.
 */
#ifndef LEAKWRAP_LAYOUT_H
#define LEAKWRAP_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "modules.h"
#include "stack.h"

#define LEAKWRAP_PLACE_MAX  0xfffeu
#define LEAKWRAP_PLACE_NONE 0xffffu

/* The word at PLACE is the address of the place TARGET. */
struct leakwrap_check {
	uint16_t place, target;
};

/* What a walk notes while it runs.  The arrays are the caller's, with room for as many places, and twice
 * as many checks, as the trace may have frames. */
struct leakwrap_notes {
	uintptr_t sp; /* where the walk began */
	uint16_t *place;
	struct leakwrap_check *check;
	uint16_t returns; /* places of return addresses: of the frames 1, 2, ... */
	uint16_t checks;
	uint16_t fp_target; /* what fp pointed to at the start, when a step used that, or NONE */
	uint16_t end_place; /* of a word with which no walk can go on, or NONE */
	uintptr_t end_word;
	bool usable; /* the backtrace depends on nothing but what is noted here */
};

struct leakwrap_layout {
	const void *_Atomic modules; /* the snapshot that it is good for; the only part that changes */
	const void *belongs_to; /* a module, the snapshot, or NULL: modules that are never unloaded */
	uintptr_t end_word;
	uint16_t returns, checks;
	uint16_t fp_target, end_place;
	uint16_t extent;  /* all places are below this */
	uint16_t place[]; /* of the return addresses; the checks, two each, follow */
};

static inline void leakwrap_notes_begin(struct leakwrap_notes *notes, uintptr_t sp)
{
	notes->sp = sp;
	notes->returns = notes->checks = 0;
	notes->fp_target = notes->end_place = LEAKWRAP_PLACE_NONE;
	notes->end_word = 0;
	notes->usable = false;
}

/* The place of ADDRESS, or LEAKWRAP_PLACE_NONE when it has none. */
static inline uint16_t leakwrap_place_of(uintptr_t address, uintptr_t sp)
{
	uintptr_t place = (address - sp) / sizeof(uintptr_t);

	return address % sizeof(uintptr_t) == sp % sizeof(uintptr_t) && place <= LEAKWRAP_PLACE_MAX
	               ? (uint16_t)place
	               : LEAKWRAP_PLACE_NONE;
}

/* The layout of a walk that is usable, was made with the modules that are loaded now, and found the DEPTH return
 * addresses PCS; or NULL when there is no memory. */
const struct leakwrap_layout *leakwrap_layout_of(const struct leakwrap_notes *notes,
                                                 const uintptr_t *pcs, unsigned depth);

/* Is it good for the modules that are loaded now? */
static inline bool leakwrap_layout_is_good(const struct leakwrap_layout *layout)
{
	return atomic_load_explicit(&layout->modules, memory_order_relaxed) == leakwrap_modules();
}

/* Is LAYOUT that of the walk? */
bool leakwrap_layout_is_of(const struct leakwrap_layout *layout, const struct leakwrap_notes *notes);

/* The word at PLACE as a return address. */
static inline uintptr_t leakwrap_return_at(uintptr_t sp, uint16_t place)
{
	return LEAKWRAP_STRIP(leakwrap_stack_word(sp + place * sizeof(uintptr_t)));
}

/* May the stack at SP, of which ROOM bytes can be read, have this layout?  It has it when also its return
 * addresses are those of a walk that had it. */
static inline bool leakwrap_layout_fits(const struct leakwrap_layout *layout, uintptr_t room,
                                        uintptr_t sp, uintptr_t fp)
{
	const uint16_t *check = layout->place + layout->returns;
	const uint16_t *end = check + (size_t)2 * layout->checks;

	if (layout->extent > room / sizeof(uintptr_t))
		return false;
	if (layout->fp_target != LEAKWRAP_PLACE_NONE &&
	    fp != sp + layout->fp_target * sizeof(uintptr_t))
		return false;
	if (layout->end_place != LEAKWRAP_PLACE_NONE &&
	    leakwrap_return_at(sp, layout->end_place) != layout->end_word)
		return false;
	for (; check < end; check += 2)
		if (leakwrap_stack_word(sp + check[0] * sizeof(uintptr_t)) !=
		    sp + check[1] * sizeof(uintptr_t))
			return false;
	return true;
}

#endif
