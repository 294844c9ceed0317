/* offsets.h - the return addresses of a backtrace, as how far they are from those of another one, with the same upper halves.
 *
 * Bits of a byte say which of the next eight frames differ; behind it stand the offsets of these, as SLEB128 (DWARF 5, section 7.6):
 * calls of one function, and of neighbours, take one or two bytes.
 */
#ifndef LEAKWRAP_OFFSETS_H
#define LEAKWRAP_OFFSETS_H

#include <stdint.h>

#include "kept.h"

/* What is left to be read of them. */
struct leakwrap_offsets {
	const uint8_t *at;
	unsigned differing; /* of the frames up to a multiple of eight */
};

/* How far the return addresses of TRACE are from those of LIKE, which has as many; NULL when there is no memory.  The tables' lock is
 * held. */
const uint8_t *leakwrap_offsets_make(const struct leakwrap_trace *trace,
                                     const struct leakwrap_kept *like);

/* The offset of FRAME: of each, from 0 on, once.  Signal-safe. */
uint32_t leakwrap_offset_of(struct leakwrap_offsets *offsets, unsigned frame);

#endif
