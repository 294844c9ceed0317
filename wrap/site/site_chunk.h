/* site_chunk.h - how call sites are stored.  Only files of this folder use it. */
#ifndef LEAKWRAP_SITE_CHUNK_H
#define LEAKWRAP_SITE_CHUNK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/byte_pool.h"
#include "wrap/base/common.h"
#include "wrap/base/site_number.h"

/* Call sites per chunk. */
#define LEAKWRAP_SITE_CHUNK_BITS 8
#define LEAKWRAP_SITE_CHUNK      (1u << LEAKWRAP_SITE_CHUNK_BITS)

/* Call sites per group.  The memory of a group can be given back. */
#define LEAKWRAP_SITE_GROUP 4096u

/* In the hash that a chunk stores: the backtrace goes through a module that may be unloaded.  The
 * hash itself does not use this bit. */
#define LEAKWRAP_SITE_MAY_BE_UNLOADED UINT64_C(1)

/* A value of walks_or_rest while the call site is unlinked: the time is not known any more, because
 * a walk to the call site was counted late. */
#define LEAKWRAP_SITE_RESTS_ANEW 0u

/* Call sites with consecutive numbers.  The index is the number modulo LEAKWRAP_SITE_CHUNK. */
struct leakwrap_site_chunk {
	/* In the form of delta_backtrace.h.  0: the number is not in use.  A collection replaces
	 * the address by that of an equal copy. */
	_Atomic leakwrap_pool_offset backtrace[LEAKWRAP_SITE_CHUNK];
	/* The hash of the backtrace, which stands for it in lookups, and
	 * LEAKWRAP_SITE_MAY_BE_UNLOADED: see site_lookup.c. */
	uint64_t hash[LEAKWRAP_SITE_CHUNK];
	/* How many stacks of the call site the stack index was given: see stack_cache.c. */
	_Atomic uint8_t stack_count[LEAKWRAP_SITE_CHUNK];
	/* How many walks have led to the call site: see stack_cache.c.  While the call site is
	 * unlinked, the time since when, as units_now of site_collect.c tells it.  Walks that had
	 * found the call site before may still be counted then. */
	_Atomic uint8_t walks_or_rest[LEAKWRAP_SITE_CHUNK];
	/* Bits by number: see site_numbers.c. */
	_Atomic uint32_t kept[LEAKWRAP_SITE_CHUNK / 32];
	_Atomic uint32_t unlinked[LEAKWRAP_SITE_CHUNK / 32];
};

extern LEAKWRAP_HIDDEN struct leakwrap_site_chunk
        *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

/* Returns the chunk of the call site NUMBER, NULL if it has none yet.  Young call sites never have
 * one.  Signal-safe. */
LEAKWRAP_INLINE struct leakwrap_site_chunk *leakwrap_site_chunk(uint32_t number)
{
	return atomic_load_explicit(&leakwrap_site_chunks[number >> LEAKWRAP_SITE_CHUNK_BITS],
	                            memory_order_acquire);
}

/* Returns where the backtrace of the call site NUMBER is stored; 0 if the number is not in use.
 * Signal-safe. */
LEAKWRAP_INLINE leakwrap_pool_offset leakwrap_site_backtrace(uint32_t number)
{
	return atomic_load_explicit(
	        &leakwrap_site_chunk(number)->backtrace[number % LEAKWRAP_SITE_CHUNK],
	        memory_order_acquire);
}

/* Returns the hash of the call site NUMBER, which is in the table of call sites.  Signal-safe. */
LEAKWRAP_INLINE uint64_t leakwrap_site_hash(uint32_t number)
{
	return leakwrap_site_chunk(number)->hash[number % LEAKWRAP_SITE_CHUNK];
}

/* Returns the place in walks_or_rest of the call site NUMBER.  Signal-safe. */
LEAKWRAP_INLINE _Atomic uint8_t *leakwrap_site_walks_or_rest(uint32_t number)
{
	return &leakwrap_site_chunk(number)->walks_or_rest[number % LEAKWRAP_SITE_CHUNK];
}

/* Returns the chunk of the call site NUMBER and makes it if needed.  FROM_RESERVE: takes memory
 * from the arena's reserve (arena.h) if no other memory is left.  Returns NULL if there is no
 * memory.  The caller holds the tables' lock. */
struct leakwrap_site_chunk *leakwrap_site_chunk_make(uint32_t number, bool from_reserve);

/* Gives the memory of a group's chunks back.  FIRST is the group's first number.  The chunks
 * remain, and read as zeros.  Those that came from the arena (first group, reserve) keep what they
 * hold.  Nobody uses a number of the group. */
void leakwrap_site_chunks_give_group(uint32_t first);

#endif
