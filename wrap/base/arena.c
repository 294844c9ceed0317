/* arena.c - see arena.h. */
#include "wrap/base/common.h"
#include "wrap/base/arena.h"

#include "wrap/port/port.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

/* Bounds of a chunk, in bytes.  Chunks grow with the memory that is mapped already: a small program
 * pays little, and a large program maps seldom. */
#define CHUNK_MIN ((size_t)64 << 10)
#define CHUNK_MAX ((size_t)1 << 20)

static struct {
	char *next;
	size_t left;
	size_t mapped; /* bytes of all chunks so far */
} arena;

/* Size of the reserve, in bytes.  Untouched pages take no memory. */
#define RESERVE ((size_t)64 << 10)

static struct {
	char *next;
	size_t left;
} reserve;

/* Maps a chunk with room for SIZE bytes, and the reserve with the first one.  The rest of the chunk
 * before is lost.  Returns false if no page can be mapped. */
static bool add_chunk(size_t size)
{
	size_t chunk = arena.mapped / 4;
	char *pages;

	if (arena.mapped == 0 && (reserve.next = leakwrap_pages_map(RESERVE)) != NULL)
		reserve.left = RESERVE;
	if (chunk < CHUNK_MIN)
		chunk = CHUNK_MIN;
	if (chunk > CHUNK_MAX)
		chunk = CHUNK_MAX;
	if (chunk < size)
		chunk = size;
	pages = leakwrap_pages_map(chunk);
	if (!pages && chunk > size) {
		chunk = size;
		pages = leakwrap_pages_map(chunk);
	}
	if (!pages)
		return false;
	arena.next = pages;
	arena.left = chunk;
	arena.mapped += chunk;
	return true;
}

static size_t round_up(size_t size)
{
	return (size + alignof(union leakwrap_aligned) - 1) &
	       ~(alignof(union leakwrap_aligned) - 1);
}

/* Memory that was given back. */
struct given {
	struct given *next;
	size_t size; /* a multiple of the alignment */
};

_Static_assert(sizeof(struct given) <= alignof(union leakwrap_aligned), "fits the smallest record");

/* Sizes up to this limit have lists of their own. */
#define SMALL_MAX 4096u

/* By size in units of the alignment.  The first list is for all sizes above SMALL_MAX: the few
 * bucket arrays of uthash. */
static struct given *given[SMALL_MAX / alignof(union leakwrap_aligned) + 1];

static struct given **list_of(size_t size)
{
	return &given[size <= SMALL_MAX ? size / alignof(union leakwrap_aligned) : 0];
}

void leakwrap_arena_give(void *memory, size_t size)
{
	struct given *const piece = memory;
	struct given **list;

	size = round_up(size);
	list = list_of(size);
	piece->size = size;
	piece->next = *list;
	*list = piece;
}

/* Returns zeroed memory of SIZE bytes that was given back, or NULL. */
static void *take_given(size_t size)
{
	struct given **at = list_of(size), *piece;

	while (*at && (*at)->size != size)
		at = &(*at)->next;
	piece = *at;
	if (piece) {
		*at = piece->next;
		memset(piece, 0, size);
	}
	return piece;
}

void *leakwrap_arena_take(size_t size)
{
	char *memory;

	size = round_up(size);
	memory = take_given(size);
	if (memory)
		return memory;
	if (size > arena.left && !add_chunk(size))
		return NULL;
	memory = arena.next;
	arena.next += size;
	arena.left -= size;
	return memory;
}

void *leakwrap_arena_take_reserve(size_t size)
{
	char *memory = reserve.next;

	size = round_up(size);
	if (size > reserve.left)
		return NULL;
	reserve.next += size;
	reserve.left -= size;
	return memory;
}
