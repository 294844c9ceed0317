/* delta_backtrace.h - the backtrace of a call site, as how far its return addresses are from those of another one, with the same upper halves.
 *
 * It begins with the number of the other one, and all numbers are SLEB128 (DWARF 5, section 7.6).  Bits of a byte say in which of the next
 * eight groups of eight frames some differ; of each of these, bits of a byte say which; behind it stand the offsets of those: calls of one
 * function, and of neighbours, take one or two bytes.  A backtrace that is like no other has no number (LEAKWRAP_SITE_NONE), and behind that
 * the address of where it is kept whole.
 */
#ifndef LEAKWRAP_DELTA_BACKTRACE_H
#define LEAKWRAP_DELTA_BACKTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/byte_pool.h"
#include "wrap/site/base_backtrace.h"

/* So many frames share a byte, and so many such bytes another one. */
#define LEAKWRAP_DELTA_GROUP 8u

/* What is left to be read of them. */
struct leakwrap_delta_reader {
	const uint8_t *at;
	unsigned groups; /* of the frames up to a multiple of 64: those of eight in which some differ */
	unsigned differing; /* of the frames up to a multiple of eight */
};

/* The following are called with the tables' lock held.  They return 0 when there is no memory. */

/* How far the return addresses of TRACE are from those of the call site NUMBER, which has as many, and whose lower halves are LOW. */
leakwrap_pool_offset leakwrap_delta_encode(const struct leakwrap_trace *trace, uint32_t number,
                                           const uint32_t *low);

/* A backtrace that is like no other, and kept as WHOLE.  FROM_RESERVE: by the memory that is left for when there is no other. */
leakwrap_pool_offset leakwrap_delta_encode_base(const struct leakwrap_base_backtrace *whole,
                                                bool from_reserve);

/* The following are signal-safe. */

/* Begins to read BYTES: the number of the call site that this one is like; or LEAKWRAP_SITE_NONE, and *WHOLE is what it is kept as. */
uint32_t leakwrap_delta_read_site(struct leakwrap_delta_reader *offsets, leakwrap_pool_offset bytes,
                                  const struct leakwrap_base_backtrace **whole);

/* If it is like another one, it is read in order: before each eighth frame, from 0 on, which of the next eight differ, in bits; then the
 * offsets of those, and 0 for others. */
unsigned leakwrap_delta_read_bitmap(struct leakwrap_delta_reader *offsets, unsigned frame);
uint32_t leakwrap_delta_read_offset(struct leakwrap_delta_reader *offsets, unsigned frame);

#endif
