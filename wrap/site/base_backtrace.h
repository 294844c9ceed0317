/* base_backtrace.h - backtraces that are kept whole, and upper halves of return addresses, which are kept once.
 *
 * On 64 bits one holds the lower halves of its return addresses.  Modules lie in few places, so the upper halves are nearly
 * always those of many other backtraces: they are kept once, and backtraces with the same ones point to the same ones.
 *
 * Immutable; never dies.  Reading one is signal-safe.
 */
#ifndef LEAKWRAP_BASE_BACKTRACE_H
#define LEAKWRAP_BASE_BACKTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/unwind/unwind.h"

struct leakwrap_base_backtrace {
	uint16_t depth;
	uint8_t kind; /* enum leakwrap_trace_kind */
#if UINTPTR_MAX > UINT32_MAX
	const uint32_t *upper; /* halves of its return addresses; as many as there are lower ones */
#endif
	const struct leakwrap_modules
	        *modules; /* that were loaded then; NULL: all of its own are never unloaded */
	uint32_t low[];
};

/* The one with the same upper half that is OFFSET behind the return address of FRAME, below the depth. */
LEAKWRAP_INLINE uintptr_t leakwrap_base_backtrace_pc(const struct leakwrap_base_backtrace *kept,
                                                     unsigned frame, uint32_t offset)
{
	const uint32_t low = kept->low[frame] + offset;

#if UINTPTR_MAX > UINT32_MAX
	return (uintptr_t)kept->upper[frame] << 32 | low;
#else
	return low;
#endif
}

/* TRACE, kept.  FROM_RESERVE: by the memory that is left for when there is no other.  NULL when there is none.  The tables' lock
 * is held. */
const struct leakwrap_base_backtrace *leakwrap_base_backtrace_make(const struct leakwrap_trace *trace,
                                                                   bool from_reserve);

/* What TRACE, just walked, is kept with: the modules that are loaded now, when it goes through one that may be unloaded; else NULL. */
const struct leakwrap_modules *leakwrap_base_backtrace_modules(const struct leakwrap_trace *trace);

/* Does TRACE, just walked, go through the same modules as KEPT, which has the same return addresses?  Where a module was unloaded
 * there may be another one by now. */
bool leakwrap_base_backtrace_has_modules_of(const struct leakwrap_base_backtrace *kept,
                                            const struct leakwrap_trace *trace);

/* The upper halves of the return addresses of TRACE in *UPPERS: the same pointer for all backtraces that have the same; NULL where
 * addresses have no more than 32 bits.  False when there is no memory.  The tables' lock is held. */
bool leakwrap_high_halves_intern(const struct leakwrap_trace *trace, bool from_reserve,
                                 const uint32_t **uppers);

#endif
