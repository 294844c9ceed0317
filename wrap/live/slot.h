/* slot.h - what is known of a live block, and the 32 bits in which the live table keeps it.
 *
 * A slot's value:
 *
 *     31             15   14   13         12 11         0
 *    +-----------------+------+-------------+------------+
 *    | call site, high | half | site, 2 low | size + 2   |
 *    +-----------------+------+-------------+------------+
 *
 * A slot stands for a window, a few bytes of the address space.  HALF says where in its window the
 * block starts: at the first byte (clear) or in the middle (set).  It stands between the bits of
 * the call site, where the product that finds the slot has it (fast.h).
 *
 * A size of LEAKWRAP_SLOT_LARGE or more does not fit.  The size field of such a large block is 1.
 * Its size is in the slots behind its slot: see extension.h.  If the size field is 0, no block
 * starts here: the slot is empty, or has something else in place of the call site (extension.h,
 * held.h).  So one test tells a small block: is any bit but the lowest set in the size field?
 *
 * The fast path of free must not remove a hidden block, one that reports leave out: a pool's blocks
 * may lie in it (parts.h).  So the size field of a hidden block is 1, too.  Its size, if it is not
 * that of a large block, stands in place of its call site.
 */
#ifndef LEAKWRAP_SLOT_H
#define LEAKWRAP_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/site_number.h"
#include "wrap/base/thread.h"

/* -- blocks ------------------------------------------------------------------------------------ */

/* The record of one live block. */
struct leakwrap_live_block {
	uintptr_t address;
	size_t size;
	uint32_t site; /* LEAKWRAP_SITE_NONE: not recorded */
};

/* What the fast path found when it was to remove the record of a block. */
enum leakwrap_removal {
	LEAKWRAP_REMOVED,
	LEAKWRAP_NO_RECORD, /* it found no record */
	LEAKWRAP_NOT_FAST,  /* the block may have a record, which the slow path removes */
};

/* -- slots ------------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

#define LEAKWRAP_SLOT_HALF  0x4000u
#define LEAKWRAP_SLOT_LARGE 0xffeu

_Static_assert(LEAKWRAP_SLOT_LARGE == LEAKWRAP_FAST_BELOW, "the fast path fills slots");
_Static_assert(LEAKWRAP_SITE_FIRST_YOUNG % 4 == 0, "leakwrap_slot_may_be_special compares");

/* The size field, and what stands in it. */
#define LEAKWRAP_SLOT_SIZE_FIELD 0xfffu
#define LEAKWRAP_SLOT_LARGE_SIZE 1u /* a large block */
#define LEAKWRAP_SLOT_SIZE_0     2u /* a block of 0 bytes */

typedef _Atomic uint32_t leakwrap_live_slot;

/* The position of a block that starts in the middle of its window: as in a slot's value.  The
 * position of a block that starts at the first byte is 0. */
#define LEAKWRAP_HALFWAY LEAKWRAP_SLOT_HALF

/* Set, above 12 bits in the place of the call site, in a slot with a part of a large block's size.
 * So no slot holds the bit HALF alone. */
#define LEAKWRAP_SLOT_EXTENDS 0x2000000u

/* Returns NUMBER, which is near, in the bits of the call site. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_place_site(uint32_t number)
{
	return (number & ~(uint32_t)3) << 13 | (number & 3) << 12;
}

/* Returns the call site in VALUE, or LEAKWRAP_SITE_FAR.  If VALUE encodes no block, returns what is
 * in its place. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_site(uint32_t value)
{
	return (value >> 13 & ~(uint32_t)3) | (value >> 12 & 3);
}

/* Returns whether VALUE, which encodes a block, has the call site NUMBER, which is near.  Takes
 * fewer instructions than leakwrap_slot_site. */
LEAKWRAP_INLINE bool leakwrap_slot_is_of_site(uint32_t value, uint32_t number)
{
	return (value & ~(LEAKWRAP_SLOT_HALF | LEAKWRAP_SLOT_SIZE_FIELD)) ==
	       leakwrap_slot_place_site(number);
}

/* Returns false if the call site in VALUE, which encodes a small block, certainly is neither young
 * nor far.  Takes as many instructions as leakwrap_slot_is_of_site. */
LEAKWRAP_INLINE bool leakwrap_slot_may_be_special(uint32_t value)
{
	const uint32_t fourth = leakwrap_slot_place_site(4);

	return value - fourth >= leakwrap_slot_place_site(LEAKWRAP_SITE_FIRST_YOUNG) - fourth;
}

/* Encodes the slot value of a block.  SITE is near, or LEAKWRAP_SITE_FAR.  SIZE: at most
 * LEAKWRAP_SLOT_LARGE, which stands for larger sizes, too.  WITHIN: the block's position in its
 * window, 0 or LEAKWRAP_HALFWAY.  Two values of sizes below LEAKWRAP_SLOT_LARGE differ by the
 * difference of the sizes. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_value(size_t size, uint32_t site, uint32_t within)
{
	return leakwrap_slot_place_site(site) | within |
	       (size < LEAKWRAP_SLOT_LARGE ? (uint32_t)size + LEAKWRAP_SLOT_SIZE_0
	                                   : LEAKWRAP_SLOT_LARGE_SIZE);
}

/* Encodes the slot value of a hidden block of SIZE bytes, less than LEAKWRAP_SLOT_LARGE.  WITHIN:
 * as for leakwrap_slot_value. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_hidden_value(size_t size, uint32_t within)
{
	return leakwrap_slot_place_site(LEAKWRAP_SITE_FIRST_HIDDEN + (uint32_t)size) | within |
	       LEAKWRAP_SLOT_LARGE_SIZE;
}

/* Returns the size in VALUE, which has the size field 1: of a hidden block, or
 * LEAKWRAP_SLOT_LARGE. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_hidden_size(uint32_t value)
{
	const uint32_t size = leakwrap_slot_site(value) - LEAKWRAP_SITE_FIRST_HIDDEN;

	return size < LEAKWRAP_SLOT_LARGE ? size : LEAKWRAP_SLOT_LARGE;
}

/* Returns the size in VALUE, which encodes a block.  LEAKWRAP_SLOT_LARGE: the block is large. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_size(uint32_t value)
{
	const uint32_t field = value & LEAKWRAP_SLOT_SIZE_FIELD;

	return leakwrap_unlikely(field == LEAKWRAP_SLOT_LARGE_SIZE)
	               ? leakwrap_slot_hidden_size(value)
	               : field - LEAKWRAP_SLOT_SIZE_0;
}

/* Returns the size in VALUE, which encodes a small block. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_small_size(uint32_t value)
{
	return (value & LEAKWRAP_SLOT_SIZE_FIELD) - LEAKWRAP_SLOT_SIZE_0;
}

/* Returns the position in its window of the block in VALUE: 0 or LEAKWRAP_HALFWAY. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_within(uint32_t value)
{
	return value & LEAKWRAP_SLOT_HALF;
}

/* Returns whether VALUE encodes a block. */
LEAKWRAP_INLINE bool leakwrap_slot_is_block(uint32_t value)
{
	return (value & LEAKWRAP_SLOT_SIZE_FIELD) != 0;
}

/* Returns whether VALUE encodes a large block. */
LEAKWRAP_INLINE bool leakwrap_slot_is_large_block(uint32_t value)
{
	return (value & LEAKWRAP_SLOT_SIZE_FIELD) == LEAKWRAP_SLOT_LARGE_SIZE &&
	       leakwrap_slot_hidden_size(value) == LEAKWRAP_SLOT_LARGE;
}

/* Returns whether VALUE encodes a small block. */
LEAKWRAP_INLINE bool leakwrap_slot_is_small_block(uint32_t value)
{
	return (value & (LEAKWRAP_SLOT_SIZE_FIELD & ~LEAKWRAP_SLOT_LARGE_SIZE)) != 0;
}

/* Returns whether VALUE encodes a small block that starts WITHIN its window. */
LEAKWRAP_INLINE bool leakwrap_slot_has_small_block(uint32_t value, uint32_t within)
{
	return leakwrap_likely(leakwrap_slot_is_small_block(value) &&
	                       leakwrap_slot_within(value) == within);
}

#endif

#endif
