/* byte_pool.h - byte strings that live as long as the program, packed one after the other.
 *
 * A program may have several byte strings for each call site.  So their addresses have 32 bits on
 * all machines.  Where pointers are longer, an address is the index of a chunk and an offset into
 * it.
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
#define LEAKWRAP_BYTE_CHUNK_BITS 13
#define LEAKWRAP_BYTE_CHUNK      ((size_t)1 << LEAKWRAP_BYTE_CHUNK_BITS)

#if UINTPTR_MAX > UINT32_MAX
/* Largest number of chunks, for 1 GB: more than the records of all call sites need
 * (delta_backtrace.c). */
#define LEAKWRAP_BYTE_CHUNKS ((size_t)1 << 17)

/* Addresses of the chunks, by index.  They are in groups, which are made when they are needed: a
 * program's static data may have little room. */
#define LEAKWRAP_BYTE_CHUNK_GROUP 256u

extern LEAKWRAP_HIDDEN const uint8_t *
        *leakwrap_byte_pool_groups[LEAKWRAP_BYTE_CHUNKS / LEAKWRAP_BYTE_CHUNK_GROUP];
#endif

/* Copies SIZE bytes, at most LEAKWRAP_BYTE_CHUNK, from FROM into the pool.  If memory is short and
 * FROM_RESERVE is true, uses the arena's reserve.  Returns the copy's address, or 0 if there is no
 * memory.  The caller holds the tables' lock. */
leakwrap_pool_offset leakwrap_byte_pool_add(const uint8_t *from, size_t size, bool from_reserve);

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
