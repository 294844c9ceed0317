/* delta_backtrace.h - the stored form of a call site's backtrace: a difference to another call
 * site.
 *
 * A delta backtrace has as many frames as its base site, with the same high halves
 * (base_backtrace.h). All numbers are SLEB128 (DWARF 5, section 7.6).  The bytes are:
 *
 *   the number of the base site
 *   for every 64 frames: a bitmap of the groups of 8 frames in which a frame differs
 *     for every such group: a bitmap of the frames that differ
 *       for every such frame: the offset of its return address from the base site's
 *
 * Bit 0 of a bitmap is the innermost group or frame.  Offsets between calls in one function or in
 * neighbouring functions take one or two bytes.
 *
 * A call site without a base site has a base backtrace.  Its bytes are LEAKWRAP_SITE_NONE, then
 * the address of the struct leakwrap_base_backtrace.
 */
#ifndef LEAKWRAP_DELTA_BACKTRACE_H
#define LEAKWRAP_DELTA_BACKTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/byte_pool.h"
#include "wrap/site/base_backtrace.h"

/* Frames per group, and groups per bitmap of groups. */
#define LEAKWRAP_DELTA_GROUP 8u

/* A position in the bytes of a delta backtrace. */
struct leakwrap_delta_reader {
	const uint8_t *at;
	unsigned group_bitmap; /* of the current 64 frames: the groups in which a frame differs */
	unsigned frame_bitmap; /* of the current group: the frames that differ */
};

/* Encodes TRACE as a delta against the call site BASE_SITE.  LOW_HALVES are the low halves of the
 * base site's return addresses, as many as TRACE has.  Returns where the bytes are stored.  Returns
 * 0 if the newest chunk of the byte pool has no room; with HAS_LOCK, the caller holds the tables'
 * lock, and 0 means that there is no memory.  Signal-safe. */
leakwrap_pool_offset leakwrap_delta_encode(const struct leakwrap_trace *trace, uint32_t base_site,
                                           const uint32_t *low_halves, bool has_lock);

/* For leakwrap_delta_encode_base and leakwrap_delta_copy: the caller holds the tables' lock.  They
 * return 0 if there is no memory. */

/* Encodes a reference to BASE.  FROM_RESERVE: takes memory from the arena's reserve (arena.h) if no
 * other memory is left.  Returns where the bytes are stored. */
leakwrap_pool_offset leakwrap_delta_encode_base(const struct leakwrap_base_backtrace *base,
                                                bool from_reserve);

/* The functions below are signal-safe. */

/* Starts to read the backtrace that is stored at BYTES.  Returns the number of its base site.
 * Returns LEAKWRAP_SITE_NONE if it has none, and stores its base backtrace in *BASE. */
uint32_t leakwrap_delta_read_site(struct leakwrap_delta_reader *reader, leakwrap_pool_offset bytes,
                                  const struct leakwrap_base_backtrace **base);

/* Reads the bitmap of the group that begins with FRAME, a multiple of LEAKWRAP_DELTA_GROUP.
 * Returns the frames of the group that differ from the base site.  Call it for each group, from
 * frame 0 on. */
unsigned leakwrap_delta_read_bitmap(struct leakwrap_delta_reader *reader, unsigned frame);

/* Reads the offset of FRAME.  Returns 0 if the frame does not differ.  Call it in order for each
 * frame that differs, after the bitmap of the frame's group. */
uint32_t leakwrap_delta_read_offset(struct leakwrap_delta_reader *reader, unsigned frame);

/* Stores the bytes at BYTES once more, as the backtrace of DEPTH frames that they are.  Returns
 * where. */
leakwrap_pool_offset leakwrap_delta_copy(leakwrap_pool_offset bytes, unsigned depth);

#endif
