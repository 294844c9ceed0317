/* arena.c - see arena.h and bare_arena.h.  Without an operating system all memory comes from one
 * range that the program gave.  Records grow up from its start, the scratch memory of a dump grows
 * down from its end. */
#include "wrap/bare/bare_arena.h"

#include "wrap/base/arena.h"
#include "wrap/leakwrap_bare.h"
#include "wrap/port/port.h"

#include <stdint.h>
#include <string.h>

/* The alignment that every record needs. */
#define ALIGNMENT ((size_t)8)

/* One part in RESERVE_SHARE of the memory is set aside.  It takes the leaf frames of call sites
 * when the rest is used up. */
#define RESERVE_SHARE 16

static struct {
	struct leakwrap_lock lock;
	char *start, *next; /* records */
	char *scratch;      /* lower end of the scratch memory in use */
	char *end;
	size_t scratch_reserve; /* bytes kept free for scratch memory */
	size_t reserve;         /* bytes kept free for leaf frames */
} arena;

static size_t round_up(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

void leakwrap_arena_start(void)
{
	uintptr_t start = round_up((uintptr_t)leakwrap_bare.memory);
	uintptr_t end =
	        ((uintptr_t)leakwrap_bare.memory + leakwrap_bare.memory_size) & ~(ALIGNMENT - 1);

	if (end < start)
		end = start;
	arena.start = arena.next = (char *)start;
	arena.scratch = arena.end = (char *)end;
	arena.reserve = round_up((end - start) / RESERVE_SHARE);
	memset(arena.start, 0, end - start);
}

/* Returns the free bytes between the records and the scratch memory, in use or reserved. */
static size_t free_bytes(void)
{
	size_t used = (size_t)(arena.end - arena.scratch);
	size_t above = used > arena.scratch_reserve ? used : arena.scratch_reserve;
	size_t all = (size_t)(arena.end - arena.next);

	return all > above ? all - above : 0;
}

/* Returns SIZE bytes for a record, or NULL if less than LEFT bytes would remain free. */
static void *take(size_t size, size_t left)
{
	void *record = arena.next;

	size = round_up(size);
	if (free_bytes() < left || size > free_bytes() - left)
		return NULL;
	arena.next += size;
	return record;
}

/* -- records ----------------------------------------------------------------------------------- */

void *leakwrap_arena_take(size_t size)
{
	return take(size, arena.reserve);
}

void *leakwrap_arena_take_reserve(size_t size)
{
	void *record = take(size, 0);

	if (free_bytes() < arena.reserve)
		arena.reserve = free_bytes();
	return record;
}

bool leakwrap_arena_reserve_scratch(size_t size)
{
	if (free_bytes() < size)
		return false;
	arena.scratch_reserve += size;
	return true;
}

/* -- pages and scratch (port.h) ---------------------------------------------------------------- */

void *leakwrap_pages_map(size_t size)
{
	void *pages;

	leakwrap_lock(&arena.lock);
	pages = leakwrap_arena_take(size);
	leakwrap_unlock(&arena.lock);
	return pages;
}

/* A table that makes walks faster must not take the memory of call sites: it gets none unless four
 * times as much is free. */
void *leakwrap_pages_map_sparse(size_t size, bool is_one_of_few)
{
	void *pages;

	leakwrap_lock(&arena.lock);
	pages = !is_one_of_few || size <= free_bytes() / 4 ? leakwrap_arena_take(size) : NULL;
	leakwrap_unlock(&arena.lock);
	return pages;
}

/* Does nothing.  Only the loser of two tasks that map the same table at once calls this
 * function. */
void leakwrap_pages_unmap(void *mapped, size_t size)
{
	(void)mapped, (void)size;
}

void leakwrap_pages_limit(size_t bytes)
{
	(void)bytes;
}

size_t leakwrap_pages_held(void)
{
	return (size_t)(arena.next - arena.start);
}

/* Maps scratch memory in a stack: the last mapping is unmapped first.  It may use the reserve,
 * because it is given back after the dump. */
void *leakwrap_scratch_map(size_t size)
{
	char *mapped = NULL;

	size = round_up(size);
	leakwrap_lock(&arena.lock);
	if (size <= (size_t)(arena.scratch - arena.next))
		mapped = arena.scratch -= size;
	leakwrap_unlock(&arena.lock);
	if (mapped)
		memset(mapped, 0, size);
	return mapped;
}

void leakwrap_arena_abandon_scratch(void)
{
	arena.scratch = arena.end;
}

void leakwrap_scratch_unmap(void *scratch, size_t size)
{
	(void)scratch;
	leakwrap_lock(&arena.lock);
	arena.scratch += round_up(size);
	leakwrap_unlock(&arena.lock);
}
