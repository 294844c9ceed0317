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

enum leakwrap_told_by {
	LEAKWRAP_TOLD_BY_NONE, /* only one has been seen */
	LEAKWRAP_TOLD_BY_FOUR,
	LEAKWRAP_TOLD_BY_ALL,
};

/* As interned: places and targets in bytes above sp, ready to be added. */
struct leakwrap_layout {
	const void *_Atomic modules; /* the snapshot that it is good for */
	/* How its call sites are told apart (recall.h): by which return addresses; the places of up to four, in words. */
	_Atomic uint32_t told_by; /* enum leakwrap_told_by */
	_Atomic uint16_t varying[4];

	/* What follows never changes. */
	const void *belongs_to; /* a module, the snapshot, or NULL: modules that are never unloaded */
	uintptr_t end_word;
	uint32_t fp_target, end_place; /* LEAKWRAP_LAYOUT_NONE: there is none */
	uint32_t extent;               /* all places are below this */
	uint16_t returns, checks;
	uint32_t place[]; /* of the return addresses; the checks, place and target, follow */
};

#define LEAKWRAP_LAYOUT_NONE UINT32_MAX

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
struct leakwrap_layout *leakwrap_layout_of(const struct leakwrap_notes *notes, const uintptr_t *pcs,
                                           unsigned depth);

/* Is it good for the modules that are loaded now? */
LEAKWRAP_INLINE bool leakwrap_layout_is_good(const struct leakwrap_layout *layout)
{
	return atomic_load_explicit(&layout->modules, memory_order_relaxed) == leakwrap_modules();
}

/* Is LAYOUT that of the walk? */
bool leakwrap_layout_is_of(const struct leakwrap_layout *layout, const struct leakwrap_notes *notes);

/* The word at PLACE as a return address. */
LEAKWRAP_INLINE uintptr_t leakwrap_return_at(uintptr_t sp, uint32_t place)
{
	return LEAKWRAP_STRIP(leakwrap_stack_word(sp + place));
}

/* How the return address at PLACE differs from another. */
LEAKWRAP_INLINE uintptr_t leakwrap_return_differs(uintptr_t sp, uint32_t place, uintptr_t other)
{
	return leakwrap_return_at(sp, place) ^ other;
}

/* How the word at PLACE differs from the address of the place TARGET. */
LEAKWRAP_INLINE uintptr_t leakwrap_target_differs(uintptr_t sp, uint32_t place, uint32_t target)
{
	return (leakwrap_stack_word(sp + place) - sp) ^ target;
}

/* Is this the form, and are RETURNS the return addresses, of the stack at SP?  LAYOUT's extent is there to be read.
 * All words are compared before anything is decided: one branch that is never mispredicted. */
LEAKWRAP_INLINE bool leakwrap_layout_holds(const struct leakwrap_layout *layout, uintptr_t sp,
                                           uintptr_t fp, const uintptr_t *returns)
{
	const uint32_t *place = layout->place;
	const uint32_t *check = place + layout->returns;
	uintptr_t differs = 0;
	size_t i = layout->returns;

	while (i % 4 != 0) {
		i--;
		differs |= leakwrap_return_differs(sp, place[i], returns[i]);
	}
	while (i != 0) {
		i -= 4;
		differs |= leakwrap_return_differs(sp, place[i], returns[i]) |
		           leakwrap_return_differs(sp, place[i + 1], returns[i + 1]) |
		           leakwrap_return_differs(sp, place[i + 2], returns[i + 2]) |
		           leakwrap_return_differs(sp, place[i + 3], returns[i + 3]);
	}
	i = (size_t)2 * layout->checks;
	if (i % 4 != 0) {
		i -= 2;
		differs |= leakwrap_target_differs(sp, check[i], check[i + 1]);
	}
	while (i != 0) {
		i -= 4;
		differs |= leakwrap_target_differs(sp, check[i], check[i + 1]) |
		           leakwrap_target_differs(sp, check[i + 2], check[i + 3]);
	}
	if (layout->fp_target != LEAKWRAP_LAYOUT_NONE)
		differs |= (fp - sp) ^ layout->fp_target;
	if (layout->end_place != LEAKWRAP_LAYOUT_NONE)
		differs |= leakwrap_return_at(sp, layout->end_place) ^ layout->end_word;
	return differs == 0;
}

#endif
