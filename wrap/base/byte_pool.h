/* byte_pool.h - byte strings, packed one after the other.
 *
 * A program may have several byte strings for each call site.  So their addresses have 32 bits on
 * all machines.  Where pointers are longer, an address is the index of a chunk and an offset into
 * it.
 *
 * Byte strings are not freed one by one.  To drop some, their owner begins a new generation of
 * chunks, adds those that it keeps once more, and gives the chunks of the old generation back.
 */
#ifndef LEAKWRAP_BYTE_POOL_H
#define LEAKWRAP_BYTE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

/* Address of a byte string in the pool.  0: none. */
typedef uint32_t leakwrap_pool_offset;

/* Size of a chunk, in bytes. */
#define LEAKWRAP_BYTE_CHUNK_BITS 15
#define LEAKWRAP_BYTE_CHUNK      ((size_t)1 << LEAKWRAP_BYTE_CHUNK_BITS)

/* Longest byte string: a chunk begins with its list entry. */
#define LEAKWRAP_BYTES_MAX (LEAKWRAP_BYTE_CHUNK - 3 * sizeof(uint64_t))

#if UINTPTR_MAX > UINT32_MAX
/* Largest number of chunks, for 4 GiB: more than the records of all call sites need
 * (delta_backtrace.c). */
#define LEAKWRAP_BYTE_CHUNKS ((size_t)1 << 17)

/* Addresses of the chunks, by index.  They are in groups, which are made when they are needed: a
 * program's static data may have little room. */
#define LEAKWRAP_BYTE_CHUNK_GROUP 256u

extern LEAKWRAP_HIDDEN const uint8_t *
        *leakwrap_byte_pool_groups[LEAKWRAP_BYTE_CHUNKS / LEAKWRAP_BYTE_CHUNK_GROUP];
#endif

/* Copies SIZE bytes from FROM into the newest chunk.  Returns the copy's address, or 0 if the chunk
 * has no room for them: then leakwrap_byte_pool_add is needed.  Takes no lock.  Signal-safe. */
leakwrap_pool_offset leakwrap_byte_pool_try_add(const uint8_t *from, size_t size);

/* For the functions below, the caller holds the tables' lock. */

/* Copies SIZE bytes, at most LEAKWRAP_BYTES_MAX, from FROM into the pool.  If memory is short and
 * FROM_RESERVE is true, uses the arena's reserve.  Returns the copy's address, or 0 if there is no
 * memory. */
leakwrap_pool_offset leakwrap_byte_pool_add(const uint8_t *from, size_t size, bool from_reserve);

/* The chunks of a generation. */
struct leakwrap_byte_generation {
	struct leakwrap_byte_chunk *chunks; /* the newest first */
	unsigned count;
};

/* Begins a new generation: byte strings that are added from now on are in other chunks.  Returns
 * the old generation, whose byte strings remain readable. */
struct leakwrap_byte_generation leakwrap_byte_pool_begin_generation(void);

/* Returns OLD to the current generation: byte strings of both remain. */
void leakwrap_byte_pool_keep(struct leakwrap_byte_generation old);

/* Gives the chunks of OLD back, for later byte strings.  Keeps the memory of as many chunks as the
 * current generation has, because the next generation needs them.  Gives the memory of the others
 * back to the system.  Nobody may read OLD any more (readers.h). */
void leakwrap_byte_pool_give(struct leakwrap_byte_generation old);

/* Returns a pointer to the byte string at BYTES, which must not be 0.  The pool owns it.
 * Signal-safe. */
LEAKWRAP_INLINE const uint8_t *leakwrap_byte_pool_at(leakwrap_pool_offset bytes)
{
#if UINTPTR_MAX > UINT32_MAX
	const uint32_t chunk = bytes >> LEAKWRAP_BYTE_CHUNK_BITS;

	return leakwrap_byte_pool_groups[chunk / LEAKWRAP_BYTE_CHUNK_GROUP]
	                                [chunk % LEAKWRAP_BYTE_CHUNK_GROUP] +
	       bytes % LEAKWRAP_BYTE_CHUNK;
#else
	return (const uint8_t *)bytes;
#endif
}

#endif
