/* base_backtrace.h - backtraces that are stored in full; delta backtraces are relative to them.
 *
 * Where addresses have 64 bits, a return address is stored as two halves of 32 bits.  The low half
 * stands in the base backtrace.  Modules lie in few regions of 4 GiB, so many backtraces have equal
 * lists of high halves.  Each distinct list is stored once, and backtraces point to it.
 *
 * A base backtrace is immutable.  It is freed with its call site (site_collect.h).
 */
#ifndef LEAKWRAP_BASE_BACKTRACE_H
#define LEAKWRAP_BASE_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/unwind/trace.h"

struct leakwrap_base_backtrace {
	uint16_t depth; /* frames */
	uint8_t kind;   /* enum leakwrap_trace_kind */
#if UINTPTR_MAX > UINT32_MAX
	const uint32_t *high_halves; /* of the return addresses: DEPTH elements, shared */
#endif
	struct leakwrap_base_backtrace *next_dead; /* site_collect.c: after it is freed */
	/* The modules loaded at the walk.  NULL if no module of this backtrace is ever unloaded. */
	const struct leakwrap_modules *modules;
	uint32_t low_halves[]; /* of the return addresses: DEPTH elements */
};

/* Returns the return address of FRAME in BASE.  FRAME is below the depth.  Signal-safe. */
LEAKWRAP_INLINE uintptr_t leakwrap_base_backtrace_pc(const struct leakwrap_base_backtrace *base,
                                                     unsigned frame)
{
#if UINTPTR_MAX > UINT32_MAX
	return (uintptr_t)base->high_halves[frame] << 32 | base->low_halves[frame];
#else
	return base->low_halves[frame];
#endif
}

/* Copies TRACE into a new base backtrace.  FROM_RESERVE: takes memory from the arena's reserve
 * (arena.h).  Returns NULL if there is no memory.  The caller holds the tables' lock. */
struct leakwrap_base_backtrace *leakwrap_base_backtrace_make(const struct leakwrap_trace *trace,
                                                             bool from_reserve);

/* Returns the member MODULES for a backtrace of TRACE, which was walked just now.  The result is
 * the current snapshot if TRACE goes through a module that may be unloaded, else NULL. */
const struct leakwrap_modules *leakwrap_base_backtrace_modules(const struct leakwrap_trace *trace);

/* Returns true if each frame of TRACE lies in the same module as that frame of BASE.  TRACE was
 * walked just now and has the return addresses of BASE.  Modules may still differ: another module
 * may be loaded where one was unloaded. */
bool leakwrap_base_backtrace_has_modules_of(const struct leakwrap_base_backtrace *base,
                                            const struct leakwrap_trace *trace);

/* Frees BASE, which nobody may read any more.  The caller holds the tables' lock. */
void leakwrap_base_backtrace_free(struct leakwrap_base_backtrace *base);

/* To remove the lists of high halves that nobody refers to: begin, keep each list that is still
 * referred to (NULL: none), and sweep.  leakwrap_high_halves_sweep returns the removed lists, which
 * may still be read.  leakwrap_high_halves_give gives their memory back (readers.h).  The caller
 * holds the tables' lock. */
struct leakwrap_high_halves;
void leakwrap_high_halves_begin_sweep(void);
void leakwrap_high_halves_keep(const uint32_t *high_halves);
void leakwrap_base_backtrace_keep_high_halves(const struct leakwrap_base_backtrace *base);
struct leakwrap_high_halves *leakwrap_high_halves_sweep(void);
void leakwrap_high_halves_give(struct leakwrap_high_halves *removed);

/* Interns the high halves of TRACE's return addresses and stores the list in *HIGH_HALVES.  Equal
 * lists have equal pointers.  Where addresses have at most 32 bits, *HIGH_HALVES is NULL.
 * FROM_RESERVE: takes memory from the arena's reserve.  Returns false if there is no memory.  The
 * caller holds the tables' lock. */
bool leakwrap_high_halves_intern(const struct leakwrap_trace *trace, bool from_reserve,
                                 const uint32_t **high_halves);

#endif
