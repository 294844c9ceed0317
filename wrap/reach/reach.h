/* reach.h - tells lost memory from reachable memory: the kinds of live blocks.
 *
 * The words are valgrind's:
 *
 *   definitely lost   no pointer leads to the block
 *   indirectly lost   only lost blocks lead to it; it counts at a definitely lost block that does
 *   possibly lost     only pointers into the block are known, but none to its first byte
 *   reachable         all other blocks
 *
 * A scan wants all other threads parked (park.h) or runs in a copy of the process.  Signal-safe,
 * takes no lock, allocates nothing but pages for its own time.
 */
#ifndef LEAKWRAP_REACH_H
#define LEAKWRAP_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/used_groups.h"
#include "wrap/reach/kinds.h"
#include "wrap/reach/park.h"

/* What a scan knows of the process. */
struct leakwrap_scan {
	struct leakwrap_standing own; /* the thread that scans or has made the copy */
	unsigned running_threads;     /* threads that did not park: they may hold any pointer */
	int original;   /* in a copy: the process that it was made of.  Without it, the copy ends */
	uint64_t spare; /* bytes that it may take beyond what dump_kinds.c expects of any scan */
	bool is_heap_known;  /* memory of the heap outside of live blocks is no root */
	uint32_t first_site; /* blocks of lower call sites have no kind: the dump leaves them out */
};

/* Finds the kinds of all live blocks.  If threads were not parked, what seems lost is possibly
 * lost: their registers may hold the pointers.  Returns an array of kinds, by call site, of SITES
 * elements, which the caller gives to leakwrap_reach_release.  Returns NULL, and sets *ERROR to the
 * reason, if there is no memory, the roots are not known, or a part of the memory cannot be read.
 * Without an operating system it parks the other tasks itself, and the caller lets them go on in
 * any case. */
struct leakwrap_kinds *leakwrap_reach_scan(const struct leakwrap_scan *scan, uint32_t sites,
                                           const char **error);

/* *ERROR if a part of the memory cannot be read.  A copy of the process reads zeros there. */
#ifndef LEAKWRAP_BARE
extern const char leakwrap_reach_unreadable[];
#else
#define leakwrap_reach_unreadable ((const char *)NULL)
#endif

/* Returns which of the SITES elements of KINDS have blocks.  A scan returned KINDS. */
#ifndef LEAKWRAP_BARE
struct leakwrap_used_groups leakwrap_reach_used(struct leakwrap_kinds *kinds, uint32_t sites);
#else
LEAKWRAP_INLINE struct leakwrap_used_groups leakwrap_reach_used(struct leakwrap_kinds *kinds,
                                                                uint32_t sites)
{
	(void)kinds;
	return (struct leakwrap_used_groups){NULL, sites};
}
#endif

/* Gives the memory of KINDS back, which a scan returned for SITES call sites. */
void leakwrap_reach_release(struct leakwrap_kinds *kinds, uint32_t sites);

#endif
