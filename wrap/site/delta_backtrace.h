/* delta_backtrace.h - the stored form of a call site's backtrace: a difference to another call
 * site.
 *
 * A delta backtrace has as many frames as its base site, with the same high halves
 * (base_backtrace.h).  The bytes are:
 *
 *   three bytes: the number of the base site, and above it the size of the offsets (0: one byte,
 *     1: two bytes, 2: four bytes, 3: flat)
 *   for every 64 frames: a bitmap of the groups of 8 frames in which a frame differs
 *     for every such group: a bitmap of the frames that differ
 *       for every such frame: the signed offset of its return address from the base site's
 *
 * Bit 0 of a bitmap is the innermost group or frame.  Offsets between calls in one function or in
 * neighbouring functions take one or two bytes.
 *
 * A flat delta has the size 3, and an offset of two bytes for each frame.  It is longer, and is
 * written and read in less time.  Its base site has a base backtrace.
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

/* Encodes TRACE as a delta against the call site BASE_SITE.  BASE_PCS are the base site's return
 * addresses, as many as TRACE has.  Returns where the bytes are stored.  Returns 0 if high halves
 * differ, or if the newest chunk of the byte pool has no room.  With HAS_LOCK the caller holds the
 * tables' lock: then a full chunk is followed by a new one, unless there is no memory.
 * Signal-safe. */
leakwrap_pool_offset leakwrap_delta_encode(const struct leakwrap_trace *trace, uint32_t base_site,
                                           const uintptr_t *base_pcs, bool has_lock);

/* Encodes TRACE as a flat delta against the call site BASE_SITE, whose backtrace is BASE.  BASE has
 * as many frames as TRACE.  Returns where the bytes are stored.  Returns 0 if an offset needs more
 * than two bytes, or if the newest chunk of the byte pool has no room.  Takes no lock.
 * Signal-safe. */
leakwrap_pool_offset leakwrap_delta_encode_flat(const struct leakwrap_trace *trace,
                                                uint32_t base_site,
                                                const struct leakwrap_base_backtrace *base);

/* For leakwrap_delta_encode_base and leakwrap_delta_copy: the caller holds the tables' lock.  They
 * return 0 if there is no memory. */

/* Encodes a reference to BASE.  FROM_RESERVE: takes memory from the arena's reserve (arena.h) if no
 * other memory is left.  Returns where the bytes are stored. */
leakwrap_pool_offset leakwrap_delta_encode_base(const struct leakwrap_base_backtrace *base,
                                                bool from_reserve);

/* The functions below are signal-safe. */

/* Starts to read the backtrace that is stored at BYTES.  Stores in *OFFSETS the argument for
 * leakwrap_delta_add_offsets.  Returns the number of the base site.  Returns LEAKWRAP_SITE_NONE if
 * there is none, and stores the base backtrace in *BASE. */
uint32_t leakwrap_delta_read_site(leakwrap_pool_offset bytes, const uint8_t **offsets,
                                  const struct leakwrap_base_backtrace **base);

/* Returns whether OFFSETS, of leakwrap_delta_read_site, are of a flat delta. */
bool leakwrap_delta_is_flat(const uint8_t *offsets);

/* Stores in PCS the return addresses of the flat delta OFFSETS against BASE. */
void leakwrap_delta_read_flat(const uint8_t *offsets, const struct leakwrap_base_backtrace *base,
                              uintptr_t *pcs);

/* Adds OFFSETS, which are not flat, to the DEPTH return addresses PCS of the base site. */
void leakwrap_delta_add_offsets(const uint8_t *offsets, unsigned depth, uintptr_t *pcs);

/* Stores the bytes at BYTES once more, as the backtrace of DEPTH frames that they are.  Returns
 * where. */
leakwrap_pool_offset leakwrap_delta_copy(leakwrap_pool_offset bytes, unsigned depth);

#endif
