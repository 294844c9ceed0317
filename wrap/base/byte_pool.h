/* byte_pool.h - bytes that live as long as the program, close behind each other.  There may be a few for each call site: so they are found
 * by addresses of 32 bits on all machines, a piece and a place in it, where those of the machine are longer.
 */
#ifndef LEAKWRAP_BYTE_POOL_H
#define LEAKWRAP_BYTE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

/* Where bytes are; 0: nowhere. */
typedef uint32_t leakwrap_pool_offset;

/* A piece has room for this many. */
#define LEAKWRAP_BYTE_CHUNK_BITS 13
#define LEAKWRAP_BYTE_CHUNK      ((size_t)1 << LEAKWRAP_BYTE_CHUNK_BITS)

#if UINTPTR_MAX > UINT32_MAX
/* 1 GB in all: more than the records of all call sites take (delta_backtrace.c). */
#define LEAKWRAP_BYTE_CHUNKS ((size_t)1 << 17)

/* Where the pieces are, by their numbers.  In groups, which are made when they are needed: a program's variables may have little room. */
#define LEAKWRAP_BYTE_CHUNK_GROUP 256u

extern LEAKWRAP_HIDDEN const uint8_t *
        *leakwrap_byte_pool_groups[LEAKWRAP_BYTE_CHUNKS / LEAKWRAP_BYTE_CHUNK_GROUP];
#endif

/* A copy of SIZE bytes, at most LEAKWRAP_BYTE_CHUNK, from FROM.  FROM_RESERVE: in the memory that is left for when there is no other, if need
 * be.  0 when there is none.  The tables' lock is held. */
leakwrap_pool_offset leakwrap_byte_pool_add(const uint8_t *from, size_t size, bool from_reserve);

/* What is kept at BYTES.  Signal-safe. */
LEAKWRAP_INLINE const uint8_t *leakwrap_byte_pool_at(leakwrap_pool_offset bytes)
{
#if UINTPTR_MAX > UINT32_MAX
	const uint32_t piece = bytes >> LEAKWRAP_BYTE_CHUNK_BITS;

	return leakwrap_byte_pool_groups[piece / LEAKWRAP_BYTE_CHUNK_GROUP]
	                                [piece % LEAKWRAP_BYTE_CHUNK_GROUP] +
	       bytes % LEAKWRAP_BYTE_CHUNK;
#else
	return (const uint8_t *)bytes;
#endif
}

#endif
