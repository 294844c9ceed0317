/* site_chunk.h - how the call-site table stores call sites.  Only files of this folder use it. */
#ifndef LEAKWRAP_SITE_CHUNK_H
#define LEAKWRAP_SITE_CHUNK_H

#include <stdatomic.h>
#include <stdint.h>

#include "wrap/base/byte_pool.h"
#include "wrap/base/common.h"
#include "wrap/live/live.h"
#include "wrap/site/base_backtrace.h"

/* Call sites per chunk. */
#define LEAKWRAP_SITE_CHUNK_BITS 8
#define LEAKWRAP_SITE_CHUNK      (1u << LEAKWRAP_SITE_CHUNK_BITS)

/* Call sites with consecutive numbers.  The index is the number modulo LEAKWRAP_SITE_CHUNK. */
struct leakwrap_site_chunk {
	/* In the form of delta_backtrace.h.  0: the number is not in use.  A collection replaces the
	 * address by that of an equal copy. */
	_Atomic leakwrap_pool_offset backtrace[LEAKWRAP_SITE_CHUNK];
	/* The high 16 bits of the backtrace's hash: see site_entry in site_table.c. */
	uint16_t hash_high[LEAKWRAP_SITE_CHUNK];
	/* How many stacks of the call site the stack index was given, and how many walks have led
	 * to the call site: see stack_cache.c. */
	_Atomic uint8_t stack_count[LEAKWRAP_SITE_CHUNK];
	_Atomic uint8_t walk_count[LEAKWRAP_SITE_CHUNK];
};

extern LEAKWRAP_HIDDEN struct leakwrap_site_chunk
        *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

/* Returns the chunk of the call site NUMBER, NULL if it has none yet.  Signal-safe. */
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

/* -- for site_collect.c: the caller holds the tables' lock ------------------------------------- */

/* Returns the call site against which the backtrace of NUMBER is a delta, or LEAKWRAP_SITE_NONE if
 * it is stored in full. */
uint32_t leakwrap_site_base(uint32_t number);

/* Stores the backtrace of NUMBER in the current generation of the byte pool.  Returns false if there
 * is no memory. */
bool leakwrap_site_copy(uint32_t number);

/* Removes those call sites from the table of backtraces for which KEEP returns false.  They remain
 * readable by their numbers.  Returns the old table, which may still be read.  Returns NULL and
 * removes nothing if there is no memory. */
struct leakwrap_hash_table *leakwrap_sites_unlink(bool (*keep)(uint32_t number));

/* Gives back the memory of OLD, which leakwrap_sites_unlink returned. */
void leakwrap_sites_free_table(struct leakwrap_hash_table *old);

/* Frees NUMBER.  Returns its backtrace if it is stored in full: that may still be read.  Otherwise
 * returns NULL. */
struct leakwrap_base_backtrace *leakwrap_site_free(uint32_t number);

/* Keeps the high halves of NUMBER's backtrace in a sweep of them (base_backtrace.h). */
void leakwrap_site_keep_high_halves(uint32_t number);

/* Says that a backtrace may have two numbers from now on. */
void leakwrap_sites_may_repeat(void);

#endif
