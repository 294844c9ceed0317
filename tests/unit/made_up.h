/* made_up.h - made-up stacks, for the unit tests of the call-site table. */
#ifndef MADE_UP_H
#define MADE_UP_H

#include "wrap/unwind/read_set.h"
#include "wrap/site/site_table.h"
#include "wrap/unwind/trace.h"

#include <stddef.h>
#include <stdint.h>

/* What lies behind the last return address. It is none. A unit may define another one before it
 * includes this. */
#ifndef MADE_UP_END
#define MADE_UP_END 8
#endif

/* A backtrace whose return addresses lie at equal distances, in words, above sp. */
struct made_up {
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	unsigned depth, gap;
};

/* Puts MADE on STACK, which has room for one more return address. */
static inline void made_up_call(const struct made_up *made, uintptr_t *stack)
{
	for (unsigned frame = 1; frame < made->depth; frame++)
		stack[(size_t)frame * made->gap] = made->pcs[frame];
	stack[(size_t)made->depth * made->gap] = MADE_UP_END;
}

/* Puts MADE on STACK, which ends at HIGH, and walks it. Returns the number of its call site. */
static inline uint32_t made_up_walk(const struct made_up *made, uintptr_t *stack,
                                    const uintptr_t *high)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	leakwrap_stack_position positions[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_stack_link none[1];
	struct leakwrap_read_set read_set = {.position = positions, .link = none};
	struct leakwrap_trace trace = {
	        .pcs = pcs, .max = LEAKWRAP_MAX_DEPTH, .read_set = &read_set, .depth = made->depth};
	struct leakwrap_stack bounds = {(uintptr_t)stack, (uintptr_t)high, false};

	made_up_call(made, stack);
	leakwrap_read_set_begin(&read_set, (uintptr_t)stack);
	pcs[0] = made->pcs[0];
	for (unsigned frame = 1; frame < made->depth; frame++) {
		pcs[frame] = made->pcs[frame];
		positions[read_set.return_count++] = (leakwrap_stack_position)(frame * made->gap);
	}
	read_set.end_position = (leakwrap_stack_position)(made->depth * made->gap);
	read_set.end_word = MADE_UP_END;
	read_set.is_usable = true;
	return leakwrap_site_intern(&trace, &bounds);
}

#endif
