/* read_set.h - the read set: which words of the stack a walk used.
 *
 * A walk depends on where it starts and on the stack words that its steps use.  These are the
 * return addresses, and the words that hold addresses of the stack itself: saved frame pointers,
 * the CFA of a realigned frame.  Addresses of the stack matter only relative to sp.
 *
 * The position of a word is its distance from sp, upward, in words.  A walk that begins on a
 * foreign stack may come to the thread's own stack, where the program has called a function on
 * another stack.  The two stacks may be any distance apart.  So the position of a word on the
 * thread's own stack is the word's distance from that stack's upper end, downward.
 *
 * Take another stack with the same return addresses at the same positions.  Its saved addresses of
 * the stack lie at the same positions, too, and lead to the same positions.  Then a walk finds
 * exactly the same backtrace.  stack_cache.h uses this to recognize stacks instead of walking them.
 *
 * Some steps have to choose by other words.  The choice is remembered with the return address
 * (rule_cache.h).  From then on the step depends only on the return address that it led to.
 */
#ifndef LEAKWRAP_READ_SET_H
#define LEAKWRAP_READ_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/thread.h"
#include "wrap/module/registry.h"

/* MAX: the largest position.  The bytes up to the end of the word are fewer than 1 << 32.  OWN: is
 * added to the positions of words on the thread's own stack, in a walk that began on a foreign
 * stack.  Bare metal has small stacks, and no foreign ones. */
#ifdef LEAKWRAP_BARE
typedef uint16_t leakwrap_stack_position;
#define LEAKWRAP_STACK_POSITION_NONE UINT16_MAX
#define LEAKWRAP_STACK_POSITION_MAX  ((leakwrap_stack_position)(UINT16_MAX - 1))
#define LEAKWRAP_STACK_POSITION_OWN  LEAKWRAP_STACK_POSITION_NONE
#else
typedef uint32_t leakwrap_stack_position;
#define LEAKWRAP_STACK_POSITION_NONE UINT32_MAX
#define LEAKWRAP_STACK_POSITION_MAX  ((leakwrap_stack_position)(UINT32_MAX / sizeof(uintptr_t) - 1))
#define LEAKWRAP_STACK_POSITION_OWN  ((leakwrap_stack_position)1 << 31)
#endif

/* A saved address of the stack: the word at POSITION holds the address of the word at TARGET. */
struct leakwrap_stack_link {
	leakwrap_stack_position position, target;
};

/* The read set of one walk.  The caller owns both arrays.  For a trace of N frames, POSITION needs
 * N elements and LINK 2 * N. */
struct leakwrap_read_set {
	const void *modules;               /* the snapshot that was current when the walk began */
	uintptr_t sp;                      /* where the walk began */
	leakwrap_stack_position *position; /* of the return addresses: frames 1, 2, ... */
	struct leakwrap_stack_link *link;  /* the saved addresses of the stack */

	uint16_t return_count; /* elements of POSITION that are filled in */
	uint16_t link_count;   /* elements of LINK that are filled in */
	/* Position of the word that fp pointed to, if a step used it; or NONE. */
	leakwrap_stack_position fp_target;
	leakwrap_stack_position end_position; /* of the word that ended the walk, or NONE */
	uintptr_t end_word;                   /* the value of that word */
	bool is_usable; /* the backtrace depends on nothing but this read set */
};

/* Empties READ_SET, for a walk that begins at SP. */
static inline void leakwrap_read_set_begin(struct leakwrap_read_set *read_set, uintptr_t sp)
{
	read_set->modules = leakwrap_modules();
	read_set->sp = sp;
	read_set->return_count = read_set->link_count = 0;
	read_set->fp_target = read_set->end_position = LEAKWRAP_STACK_POSITION_NONE;
	read_set->end_word = 0;
	read_set->is_usable = false;
}

/* Returns the position of the word at ADDRESS.  Returns LEAKWRAP_STACK_POSITION_NONE if ADDRESS
 * lies below SP or too far above it, or is aligned differently. */
static inline leakwrap_stack_position leakwrap_stack_position_of(uintptr_t address, uintptr_t sp)
{
	uintptr_t position = (address - sp) / sizeof(uintptr_t);

	/* With 32-bit addresses, the position of a word below SP may be small. */
	return address >= sp && address % sizeof(uintptr_t) == sp % sizeof(uintptr_t) &&
	                       position <= LEAKWRAP_STACK_POSITION_MAX
	               ? (leakwrap_stack_position)position
	               : LEAKWRAP_STACK_POSITION_NONE;
}

/* Returns whether POSITION is on the thread's own stack, and the walk began on a foreign stack. */
static inline bool leakwrap_stack_position_is_own(leakwrap_stack_position position)
{
	return position >= LEAKWRAP_STACK_POSITION_OWN && position != LEAKWRAP_STACK_POSITION_NONE;
}

/* Returns how many bytes the own POSITION lies below the upper end of the stack. */
static inline uintptr_t leakwrap_stack_position_below_high(leakwrap_stack_position position)
{
	return (uintptr_t)(position - LEAKWRAP_STACK_POSITION_OWN) * sizeof(uintptr_t);
}

/* Returns the address of the word at POSITION, which is not NONE.  The walk began at SP, in this
 * thread. */
static inline uintptr_t leakwrap_stack_position_address(leakwrap_stack_position position,
                                                        uintptr_t sp)
{
	return leakwrap_stack_position_is_own(position)
	               ? leakwrap_self.stack_high - leakwrap_stack_position_below_high(position)
	               : sp + position * sizeof(uintptr_t);
}

/* Records that the step depends on the word at POSITION, which holds the address of the word at
 * TARGET.  Returns false if a position is out of range. */
static inline bool leakwrap_read_set_add_link(struct leakwrap_read_set *read_set,
                                              leakwrap_stack_position position,
                                              leakwrap_stack_position target)
{
	read_set->link[read_set->link_count++] = (struct leakwrap_stack_link){position, target};
	return position != LEAKWRAP_STACK_POSITION_NONE && target != LEAKWRAP_STACK_POSITION_NONE;
}

/* Records that the step depends on fp, which points to the word at TARGET and was read at POSITION.
 * NONE: fp is the register that the walk began with.  Returns false if a position is out of
 * range. */
static inline bool leakwrap_read_set_add_fp(struct leakwrap_read_set *read_set,
                                            leakwrap_stack_position position,
                                            leakwrap_stack_position target)
{
	if (position != LEAKWRAP_STACK_POSITION_NONE)
		return leakwrap_read_set_add_link(read_set, position, target);
	read_set->fp_target = target;
	return target != LEAKWRAP_STACK_POSITION_NONE;
}

/* Does what leakwrap_read_set_add_fp does.  FP points into the stack on which the walk began. */
static inline bool leakwrap_read_set_add_near_fp(struct leakwrap_read_set *read_set,
                                                 leakwrap_stack_position position, uintptr_t fp)
{
	return leakwrap_read_set_add_fp(read_set, position,
	                                leakwrap_stack_position_of(fp, read_set->sp));
}

/* Returns whether the walk began on a foreign stack, and has come to the thread's own stack. */
static inline bool leakwrap_read_set_has_come_to_own(const struct leakwrap_read_set *read_set)
{
	return read_set->return_count > 0 &&
	       leakwrap_stack_position_is_own(read_set->position[read_set->return_count - 1]);
}

#endif
