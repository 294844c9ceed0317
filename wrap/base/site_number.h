/* site_number.h - the numbers of call sites: which there are, and which are special. */
#ifndef LEAKWRAP_SITE_NUMBER_H
#define LEAKWRAP_SITE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"

/* Numbers of call sites with a special meaning. */
enum {
	LEAKWRAP_SITE_NONE,    /* no block */
	LEAKWRAP_SITE_IGNORED, /* a live block that reports leave out */
	LEAKWRAP_SITE_FAR,     /* in a slot alone: the number does not fit, see far_number.h */
	LEAKWRAP_SITE_LOST,    /* no memory or no number was left for the backtrace */
	LEAKWRAP_SITE_FIRST,   /* the first number with a backtrace */
};

/* Bits of a call site's number.  wrap/bare/live.c has a uint16_t.  Elsewhere two million call sites
 * have a number.  The unit tests choose fewer bits, because they use up all numbers. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_SITE_BITS 16
#elif !defined LEAKWRAP_SITE_BITS
#define LEAKWRAP_SITE_BITS 21
#endif

/* Numbers of call sites are below this limit. */
#define LEAKWRAP_SITE_LIMIT ((uint32_t)1 << LEAKWRAP_SITE_BITS)

#ifndef LEAKWRAP_BARE
/* Numbers below this limit are near: they fit a slot, which has these bits left.  The others are
 * far: see far_number.h. */
#define LEAKWRAP_NEAR_BITS  19
#define LEAKWRAP_NEAR_LIMIT ((uint32_t)1 << LEAKWRAP_NEAR_BITS)

/* The last near numbers are of young call sites (young_site.h). */
#define LEAKWRAP_YOUNG_SITES      4096u
#define LEAKWRAP_SITE_FIRST_YOUNG (LEAKWRAP_NEAR_LIMIT - LEAKWRAP_YOUNG_SITES)

/* The numbers before those are sizes in the slots of hidden blocks. */
#define LEAKWRAP_HIDDEN_SIZES      4096u
#define LEAKWRAP_SITE_FIRST_HIDDEN (LEAKWRAP_SITE_FIRST_YOUNG - LEAKWRAP_HIDDEN_SIZES)
#endif

/* Returns whether NUMBER is far. */
LEAKWRAP_INLINE bool leakwrap_site_is_far(uint32_t number)
{
#ifndef LEAKWRAP_BARE
	return leakwrap_unlikely(number >= LEAKWRAP_NEAR_LIMIT);
#else
	(void)number;
	return false;
#endif
}

/* Returns whether NUMBER is of a young call site. */
LEAKWRAP_INLINE bool leakwrap_site_is_young(uint32_t number)
{
#ifndef LEAKWRAP_BARE
	return leakwrap_unlikely(number - LEAKWRAP_SITE_FIRST_YOUNG < LEAKWRAP_YOUNG_SITES);
#else
	(void)number;
	return false;
#endif
}

#endif
