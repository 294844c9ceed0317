/* kinds.h - the kinds of live blocks (reach.h), and their sums. */
#ifndef LEAKWRAP_KINDS_H
#define LEAKWRAP_KINDS_H

#include <stdint.h>

enum leakwrap_reach_kind {
	LEAKWRAP_DEFINITE,
	LEAKWRAP_INDIRECT, /* what the definitely lost blocks of a call site lead to */
	LEAKWRAP_POSSIBLE,
	LEAKWRAP_REACHABLE,
	/* A call site's own blocks that count as INDIRECT at another call site, or at this one. */
	LEAKWRAP_OWN_INDIRECT,
	LEAKWRAP_KIND_COUNT,
};

#ifdef LEAKWRAP_BARE
typedef uint32_t leakwrap_kind_sum;
#else
typedef uint64_t leakwrap_kind_sum;
#endif

/* The bytes and blocks of each kind, of a call site or in total. */
struct leakwrap_kinds {
	leakwrap_kind_sum bytes[LEAKWRAP_KIND_COUNT], blocks[LEAKWRAP_KIND_COUNT];
};

#endif
