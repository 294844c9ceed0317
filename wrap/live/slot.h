/* slot.h - what is known of a live block, and the 32 bits in which the live table keeps it.
 *
 * A slot's value:
 *
 *     31            13   12   11         0
 *    +----------------+------+------------+
 *    | call site      | half | size + 1   |   call site 0: no block starts here
 *    +----------------+------+------------+
 *
 * A slot stands for a window, a few bytes of the address space.  HALF says where in its window the
 * block starts: at the first byte (clear) or in the middle (set).
 *
 * A size of LEAKWRAP_SLOT_LARGE or more does not fit.  The size field of such a large block is 0.
 * Its size is in the slots behind its slot: see extension.h.
 */
#ifndef LEAKWRAP_SLOT_H
#define LEAKWRAP_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/thread.h"

/* -- blocks and call sites --------------------------------------------------------------------- */

/* Numbers of call sites with a special meaning. */
enum {
	LEAKWRAP_SITE_NONE,    /* no block */
	LEAKWRAP_SITE_IGNORED, /* a live block that reports leave out */
	LEAKWRAP_SITE_LOST,    /* no memory or no number was left for the backtrace */
	LEAKWRAP_SITE_FIRST,   /* the first number with a backtrace */
};

/* Bits of a call site's number: all that a slot has left.  wrap/bare/live.c has a uint16_t. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_SITE_BITS 16
#else
#define LEAKWRAP_SITE_BITS 19
#endif

/* Numbers of call sites are below this limit. */
#define LEAKWRAP_SITE_LIMIT ((uint32_t)1 << LEAKWRAP_SITE_BITS)

/* The record of one live block. */
struct leakwrap_live_block {
	uintptr_t address;
	size_t size;
	uint32_t site; /* LEAKWRAP_SITE_NONE: not recorded */
};

/* What the fast path found when it was to remove the record of a block. */
enum leakwrap_removal {
	LEAKWRAP_REMOVED,
	LEAKWRAP_NO_RECORD, /* the block certainly has no record */
	LEAKWRAP_NOT_FAST,  /* the block may have a record, which the slow path removes */
};

/* -- slots ------------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

#define LEAKWRAP_SLOT_SITE_SHIFT (32 - LEAKWRAP_SITE_BITS)
#define LEAKWRAP_SLOT_HALF       0x1000u
#define LEAKWRAP_SLOT_LARGE      0xfffu

_Static_assert(LEAKWRAP_SLOT_LARGE == LEAKWRAP_FAST_BELOW, "the fast path fills slots");

typedef _Atomic uint32_t leakwrap_live_slot;

/* The position of a block that starts in the middle of its window.  The position of a block that
 * starts at the first byte is 0.  It is the bit LEAKWRAP_SLOT_HALF, shifted. */
#define LEAKWRAP_HALFWAY    0x4000u
#define LEAKWRAP_HALF_SHIFT 2

/* Encodes the slot value of a block.  SIZE: at most LEAKWRAP_SLOT_LARGE, which encodes as 0.
 * WITHIN: the block's position in its window, 0 or LEAKWRAP_HALFWAY.  Two values of sizes below
 * LEAKWRAP_SLOT_LARGE differ by the sizes' difference. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_value(size_t size, uint32_t site, uint32_t within)
{
	return site << LEAKWRAP_SLOT_SITE_SHIFT | within >> LEAKWRAP_HALF_SHIFT |
	       (((uint32_t)size + 1) & LEAKWRAP_SLOT_LARGE);
}

/* Returns the call site in VALUE, or LEAKWRAP_SITE_NONE if VALUE encodes no block. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_site(uint32_t value)
{
	return value >> LEAKWRAP_SLOT_SITE_SHIFT;
}

/* Returns the size in VALUE, which encodes a block.  LEAKWRAP_SLOT_LARGE: the block is large. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_size(uint32_t value)
{
	return (value - 1) & LEAKWRAP_SLOT_LARGE;
}

/* Returns the position in its window of the block in VALUE: 0 or LEAKWRAP_HALFWAY. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_within(uint32_t value)
{
	return (value & LEAKWRAP_SLOT_HALF) << LEAKWRAP_HALF_SHIFT;
}

/* Returns whether VALUE encodes a block.  Else it is 0 or a part of an extension. */
LEAKWRAP_INLINE bool leakwrap_slot_is_block(uint32_t value)
{
	return leakwrap_slot_site(value) != LEAKWRAP_SITE_NONE;
}

/* Returns whether VALUE encodes a large block. */
LEAKWRAP_INLINE bool leakwrap_slot_is_large_block(uint32_t value)
{
	return leakwrap_slot_is_block(value) && leakwrap_slot_size(value) == LEAKWRAP_SLOT_LARGE;
}

/* Returns whether VALUE encodes a small block that starts WITHIN its window. */
LEAKWRAP_INLINE bool leakwrap_slot_is_small_block(uint32_t value, uint32_t within)
{
	return leakwrap_likely(value >= 1u << LEAKWRAP_SLOT_SITE_SHIFT &&
	                       (value & LEAKWRAP_SLOT_LARGE) != 0 &&
	                       leakwrap_slot_within(value) == within);
}

#endif

#endif
