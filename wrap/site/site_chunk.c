/* site_chunk.c - see site_chunk.h. */
#include "wrap/site/site_chunk.h"

#include "wrap/base/arena.h"

LEAKWRAP_TABLE struct leakwrap_site_chunk
        *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

struct leakwrap_site_chunk *leakwrap_site_chunk_make(uint32_t number, bool from_reserve)
{
	struct leakwrap_site_chunk *_Atomic *chunk_slot =
	        &leakwrap_site_chunks[number / LEAKWRAP_SITE_CHUNK];
	struct leakwrap_site_chunk *chunk = atomic_load(chunk_slot);

	if (!chunk) {
		chunk = leakwrap_arena_take_from(sizeof(*chunk), from_reserve);
		if (chunk)
			atomic_store_explicit(chunk_slot, chunk, memory_order_release);
	}
	return chunk;
}
