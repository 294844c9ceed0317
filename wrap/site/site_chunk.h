/* site_chunk.h - a call site as the table keeps it (site_table.h), for those that make up the table: site_table.c and stack_cache.c. */
#ifndef LEAKWRAP_SITE_CHUNK_H
#define LEAKWRAP_SITE_CHUNK_H

#include <stdatomic.h>
#include <stdint.h>

#include "wrap/base/byte_pool.h"
#include "wrap/base/common.h"
#include "wrap/live/live.h"

/* All by number: so many in each chunk. */
#define LEAKWRAP_SITE_CHUNK_BITS 8
#define LEAKWRAP_SITE_CHUNK      (1u << LEAKWRAP_SITE_CHUNK_BITS)

struct leakwrap_site_chunk {
	leakwrap_pool_offset
	        backtrace[LEAKWRAP_SITE_CHUNK];     /* delta_backtrace.h; immutable once published */
	uint16_t key[LEAKWRAP_SITE_CHUNK];          /* its upper half: by_backtrace (site_table.c) */
	_Atomic uint8_t forms[LEAKWRAP_SITE_CHUNK]; /* how many the stacks of each have had */
};

extern LEAKWRAP_HIDDEN struct leakwrap_site_chunk
        *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

/* The chunk of the call site NUMBER.  Signal-safe. */
LEAKWRAP_INLINE struct leakwrap_site_chunk *leakwrap_site_chunk(uint32_t number)
{
	return atomic_load_explicit(&leakwrap_site_chunks[number >> LEAKWRAP_SITE_CHUNK_BITS],
	                            memory_order_acquire);
}

#endif
