/* byte_pool.c - see byte_pool.h. */
#include "wrap/base/byte_pool.h"

#include "wrap/base/arena.h"

#include <string.h>

/* What a chunk begins with.  Its byte strings follow. */
struct leakwrap_byte_chunk {
	struct leakwrap_byte_chunk *next; /* in its list */
	leakwrap_pool_offset address;     /* of this record */
	uint32_t size;                    /* of the chunk; less than LEAKWRAP_BYTE_CHUNK if it is
	                                   * from the reserve */
};

_Static_assert(LEAKWRAP_BYTES_MAX + sizeof(struct leakwrap_byte_chunk) <= LEAKWRAP_BYTE_CHUNK,
               "a chunk holds the longest byte string");

static struct {
	struct leakwrap_byte_chunk *used; /* of the current generation; the newest first */
	struct leakwrap_byte_chunk *free; /* all of LEAKWRAP_BYTE_CHUNK bytes */
	/* The unused rest of the newest chunk. */
	uint8_t *next;
	size_t left;
	leakwrap_pool_offset address; /* of NEXT */
} pool;

#if UINTPTR_MAX > UINT32_MAX

const uint8_t **leakwrap_byte_pool_groups[LEAKWRAP_BYTE_CHUNKS / LEAKWRAP_BYTE_CHUNK_GROUP];

/* Assigns an address to the chunk at START.  Returns 0 if all indices are used or memory for a
 * group is short. */
static leakwrap_pool_offset assign_address(const uint8_t *start, bool from_reserve)
{
	static uint32_t next_chunk = 1;
	const uint8_t ***group;

	if (next_chunk == LEAKWRAP_BYTE_CHUNKS)
		return 0;
	group = &leakwrap_byte_pool_groups[next_chunk / LEAKWRAP_BYTE_CHUNK_GROUP];
	if (!*group)
		*group = leakwrap_arena_take_from(LEAKWRAP_BYTE_CHUNK_GROUP * sizeof(**group),
		                                  from_reserve);
	if (!*group)
		return 0;
	(*group)[next_chunk % LEAKWRAP_BYTE_CHUNK_GROUP] = start;
	return next_chunk++ << LEAKWRAP_BYTE_CHUNK_BITS;
}

#else

static leakwrap_pool_offset assign_address(const uint8_t *start, bool from_reserve)
{
	(void)from_reserve;
	return (leakwrap_pool_offset)start;
}

#endif

/* Makes a chunk of SIZE bytes.  Returns NULL if there is no memory. */
static struct leakwrap_byte_chunk *make_chunk(size_t size, bool from_reserve)
{
	struct leakwrap_byte_chunk *chunk = leakwrap_arena_take_from(size, from_reserve);

	if (!chunk)
		return NULL;
	chunk->size = (uint32_t)size;
	chunk->address = assign_address((const uint8_t *)chunk, from_reserve);
	return chunk->address != 0 ? chunk : NULL;
}

/* Makes CHUNK the newest of the generation.  Returns false if it is NULL. */
static bool begin_chunk(struct leakwrap_byte_chunk *chunk)
{
	if (!chunk)
		return false;
	chunk->next = pool.used;
	pool.used = chunk;
	pool.next = (uint8_t *)(chunk + 1);
	pool.left = chunk->size - sizeof(*chunk);
	pool.address = chunk->address + (leakwrap_pool_offset)sizeof(*chunk);
	return true;
}

static bool add_chunk(void)
{
	struct leakwrap_byte_chunk *chunk = pool.free;

	if (chunk)
		pool.free = chunk->next;
	else
		chunk = make_chunk(LEAKWRAP_BYTE_CHUNK, false);
	return begin_chunk(chunk);
}

leakwrap_pool_offset leakwrap_byte_pool_add(const uint8_t *from, size_t size, bool from_reserve)
{
	leakwrap_pool_offset address;

	if (size > pool.left && !add_chunk() &&
	    !(from_reserve &&
	      begin_chunk(make_chunk(sizeof(struct leakwrap_byte_chunk) + size, true))))
		return 0;
	address = pool.address;
	memcpy(pool.next, from, size);
	pool.next += size;
	pool.left -= size;
	pool.address += (leakwrap_pool_offset)size;
	return address;
}

struct leakwrap_byte_generation leakwrap_byte_pool_begin_generation(void)
{
	const struct leakwrap_byte_generation old = {pool.used};

	pool.used = NULL;
	pool.left = 0;
	return old;
}

void leakwrap_byte_pool_keep(struct leakwrap_byte_generation old)
{
	struct leakwrap_byte_chunk **end = &pool.used;

	while (*end)
		end = &(*end)->next;
	*end = old.chunks;
}

/* The few chunks from the reserve are lost: their sizes differ. */
void leakwrap_byte_pool_give(struct leakwrap_byte_generation old)
{
	for (struct leakwrap_byte_chunk *chunk = old.chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		if (chunk->size != LEAKWRAP_BYTE_CHUNK)
			continue;
		chunk->next = pool.free;
		pool.free = chunk;
	}
}
