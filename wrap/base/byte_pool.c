/* byte_pool.c - see byte_pool.h. */
#include "wrap/base/byte_pool.h"

#include "wrap/base/arena.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <string.h>

/* What a chunk begins with.  Its byte strings follow. */
struct leakwrap_byte_chunk {
	struct leakwrap_byte_chunk *next; /* the chunk before it */
	leakwrap_pool_offset address;     /* of this record */
	_Atomic uint32_t used;            /* bytes, with this record; more than SIZE: full */
	uint32_t size; /* of the chunk; less than LEAKWRAP_BYTE_CHUNK if it is from the reserve */
};

_Static_assert(LEAKWRAP_BYTES_MAX + sizeof(struct leakwrap_byte_chunk) <= LEAKWRAP_BYTE_CHUNK,
               "a chunk holds the longest byte string");

static struct {
	struct leakwrap_byte_chunk *_Atomic newest; /* of the current generation, or NULL */
	unsigned count;                             /* chunks of the current generation */

	/* Of LEAKWRAP_BYTE_CHUNK bytes each.  All but the first page of an empty chunk takes no
	 * memory. */
	struct leakwrap_byte_chunk *free, *empty;
	unsigned free_count;
} pool;

#if UINTPTR_MAX > UINT32_MAX

LEAKWRAP_TABLE const uint8_t *
        *leakwrap_byte_pool_groups[LEAKWRAP_BYTE_CHUNKS / LEAKWRAP_BYTE_CHUNK_GROUP];

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

/* Makes a chunk of SIZE bytes.  Returns NULL if there is no memory for it or its address. */
static struct leakwrap_byte_chunk *make_chunk(size_t size, bool from_reserve)
{
	struct leakwrap_byte_chunk *chunk =
	        from_reserve ? leakwrap_arena_take_reserve(size) : leakwrap_pages_map(size);

	if (!chunk)
		return NULL;
	chunk->size = (uint32_t)size;
	chunk->address = assign_address((const uint8_t *)chunk, from_reserve);
	if (chunk->address != 0)
		return chunk;
	if (from_reserve)
		leakwrap_arena_give(chunk, size);
	else
		leakwrap_pages_unmap(chunk, size);
	return NULL;
}

/* Makes CHUNK the newest of the generation.  Returns false if it is NULL. */
static bool begin_chunk(struct leakwrap_byte_chunk *chunk)
{
	if (!chunk)
		return false;
	chunk->next = atomic_load(&pool.newest);
	atomic_store(&chunk->used, sizeof(*chunk));
	atomic_store(&pool.newest, chunk);
	pool.count++;
	return true;
}

/* Takes the first chunk of LIST.  Returns NULL if there is none. */
static struct leakwrap_byte_chunk *take_first(struct leakwrap_byte_chunk **list)
{
	struct leakwrap_byte_chunk *const chunk = *list;

	if (chunk)
		*list = chunk->next;
	return chunk;
}

static bool add_chunk(void)
{
	struct leakwrap_byte_chunk *chunk = take_first(&pool.free);

	if (chunk)
		pool.free_count--;
	else
		chunk = take_first(&pool.empty);
	return begin_chunk(chunk ? chunk : make_chunk(LEAKWRAP_BYTE_CHUNK, false));
}

leakwrap_pool_offset leakwrap_byte_pool_try_add(const uint8_t *from, size_t size)
{
	struct leakwrap_byte_chunk *const chunk = atomic_load(&pool.newest);
	uint32_t at;

	if (!chunk || atomic_load_explicit(&chunk->used, memory_order_relaxed) + size > chunk->size)
		return 0;
	at = atomic_fetch_add(&chunk->used, (uint32_t)size);
	if (at + size > chunk->size)
		return 0;
	memcpy((uint8_t *)chunk + at, from, size);
	return chunk->address + at;
}

leakwrap_pool_offset leakwrap_byte_pool_add(const uint8_t *from, size_t size, bool from_reserve)
{
	leakwrap_pool_offset address = leakwrap_byte_pool_try_add(from, size);

	while (address == 0) {
		if (!add_chunk() &&
		    !(from_reserve &&
		      begin_chunk(make_chunk(sizeof(struct leakwrap_byte_chunk) + size, true))))
			return 0;
		address = leakwrap_byte_pool_try_add(from, size);
	}
	return address;
}

struct leakwrap_byte_generation leakwrap_byte_pool_begin_generation(void)
{
	const struct leakwrap_byte_generation old = {atomic_load(&pool.newest), pool.count};

	atomic_store(&pool.newest, NULL);
	pool.count = 0;
	return old;
}

void leakwrap_byte_pool_keep(struct leakwrap_byte_generation old)
{
	struct leakwrap_byte_chunk *oldest = atomic_load(&pool.newest);

	pool.count += old.count;
	if (!oldest) {
		atomic_store(&pool.newest, old.chunks);
		return;
	}
	while (oldest->next)
		oldest = oldest->next;
	oldest->next = old.chunks;
}

/* Gives CHUNK to the free chunks.  Its memory goes back if they are more than the chunks in use. */
static void give_chunk(struct leakwrap_byte_chunk *chunk)
{
	const size_t page = leakwrap_page_size();

	if (pool.free_count >= pool.count && page < LEAKWRAP_BYTE_CHUNK) {
		leakwrap_pages_empty((char *)chunk + page, LEAKWRAP_BYTE_CHUNK - page);
		chunk->next = pool.empty;
		pool.empty = chunk;
	} else {
		chunk->next = pool.free;
		pool.free = chunk;
		pool.free_count++;
	}
}

/* The few chunks from the reserve are lost: their sizes differ. */
void leakwrap_byte_pool_give(struct leakwrap_byte_generation old)
{
	for (struct leakwrap_byte_chunk *chunk = old.chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		if (chunk->size == LEAKWRAP_BYTE_CHUNK)
			give_chunk(chunk);
	}
}
