/* arena.c - see arena.h. */
#include "wrap/base/common.h"
#include "wrap/base/arena.h"

#include "wrap/port/port.h"

#include <stdalign.h>
#include <stdint.h>

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

static int add_chunk(size_t size)
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
		return 0;
	arena.next = pages;
	arena.left = chunk;
	arena.mapped += chunk;
	return 1;
}

static size_t round_up(size_t size)
{
	return (size + alignof(union leakwrap_aligned) - 1) &
	       ~(alignof(union leakwrap_aligned) - 1);
}

void *leakwrap_arena_take(size_t size)
{
	char *memory;

	size = round_up(size);
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
