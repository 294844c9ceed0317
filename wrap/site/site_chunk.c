/* site_chunk.c - see site_chunk.h. */
#include "wrap/site/site_chunk.h"

#include "wrap/base/arena.h"
#include "wrap/port/port.h"

LEAKWRAP_TABLE struct leakwrap_site_chunk
        *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

#define CHUNKS_PER_GROUP (LEAKWRAP_SITE_GROUP / LEAKWRAP_SITE_CHUNK)
#define GROUP_SIZE       (CHUNKS_PER_GROUP * sizeof(struct leakwrap_site_chunk))

/* The pages of each group; NULL: it has none.  A small program has only the chunks of the first
 * group.  These and what comes from the arena's reserve have no pages of their own. */
static LEAKWRAP_TABLE struct leakwrap_site_chunk *groups[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_GROUP];

/* Returns memory for the chunk of NUMBER, or NULL. */
static struct leakwrap_site_chunk *take(uint32_t number, bool from_reserve)
{
	struct leakwrap_site_chunk **const group = &groups[number / LEAKWRAP_SITE_GROUP];

	if (!*group && number >= LEAKWRAP_SITE_GROUP)
		*group = leakwrap_pages_map(GROUP_SIZE);
	if (*group)
		return *group + number % LEAKWRAP_SITE_GROUP / LEAKWRAP_SITE_CHUNK;
	return leakwrap_arena_take_from(sizeof(**group), from_reserve);
}

struct leakwrap_site_chunk *leakwrap_site_chunk_make(uint32_t number, bool from_reserve)
{
	struct leakwrap_site_chunk *_Atomic *chunk_slot =
	        &leakwrap_site_chunks[number / LEAKWRAP_SITE_CHUNK];
	struct leakwrap_site_chunk *chunk = atomic_load(chunk_slot);

	if (!chunk) {
		chunk = take(number, from_reserve);
		if (chunk)
			atomic_store_explicit(chunk_slot, chunk, memory_order_release);
	}
	return chunk;
}

void leakwrap_site_chunks_give_group(uint32_t first)
{
	struct leakwrap_site_chunk *const group = groups[first / LEAKWRAP_SITE_GROUP];

	if (group)
		leakwrap_pages_empty(group, GROUP_SIZE);
}
