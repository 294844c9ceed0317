/* stack_site.h - the call site of a stack that was walked: a young one (young_sites.h), or one of
 * the table (site_table.h).
 *
 * The first few thousand stacks of a program, and stacks that come again soon, get a call site of
 * the table, and the stack cache learns them.  Any other stack gets a young call site.
 */
#ifndef LEAKWRAP_STACK_SITE_H
#define LEAKWRAP_STACK_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/site/site_table.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"

#ifndef LEAKWRAP_BARE

/* Returns whether the program has had few call sites: each stack is learned, and there are no young
 * call sites.  Signal-safe. */
bool leakwrap_sites_are_few(void);

/* Finds or adds the call site of TRACE, a walk of STACK that began at SP.  BLOCK is the block that
 * the caller is about to record in a slot of the live table, or NULL.  If the result may be young
 * (BLOCK is not NULL), the caller calls leakwrap_young_sites_end once BLOCK is recorded.  Returns
 * LEAKWRAP_SITE_LOST as leakwrap_site_number does.  Takes the tables' lock at times. */
uint32_t leakwrap_stack_site(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack,
                             uintptr_t sp, const void *block);

/* Returns the call site of the table for SITE, which may be young and which BLOCK had or will have.
 * Returns LEAKWRAP_SITE_LOST and counts the loss if SITE is another block's by now.  Takes the
 * tables' lock at times. */
uint32_t leakwrap_settled_site(uint32_t site, const void *block);

/* Gives BLOCK a call site of the table if it has a young call site.  Call it before BLOCK's record
 * leaves its slot and may come back.  Takes the tables' lock at times. */
void leakwrap_settle_block(const void *block);

#else

/* Without an operating system there are no young call sites. */
static inline uint32_t leakwrap_stack_site(const struct leakwrap_trace *trace,
                                           const struct leakwrap_stack *stack, uintptr_t sp,
                                           const void *block)
{
	(void)sp, (void)block;
	return leakwrap_site_number(trace, stack);
}

static inline uint32_t leakwrap_settled_site(uint32_t site, const void *block)
{
	(void)block;
	return site;
}

static inline void leakwrap_settle_block(const void *block)
{
	(void)block;
}

static inline void leakwrap_young_sites_end(uintptr_t sp)
{
	(void)sp;
}

#endif

#endif
