/* arena.c - memory without an operating system: everything comes out of the one piece that the program gave.
 * See arena.h.  Records go up from its start, scratch memory of a dump goes down from its end. */
#include "wrap/bare/bare_arena.h"

#include "wrap/base/arena.h"
#include "wrap/leakwrap_bare.h"
#include "wrap/port/port.h"

#include <stdint.h>
#include <string.h>

/* Everything is aligned to what any record needs. */
#define ALIGNMENT ((size_t)8)

/* Of the memory, set aside for the leaf frames of call sites when the rest is used up. */
#define RESERVE_SHARE 16

static struct {
	struct leakwrap_lock lock;
	char *start, *next; /* records */
	char *scratch;      /* its lower end */
	char *end;
	size_t kept; /* for scratch */
	size_t reserve;
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

/* Bytes between the records and what is kept, or in use, for scratch. */
static size_t room(void)
{
	size_t used = (size_t)(arena.end - arena.scratch);
	size_t above = used > arena.kept ? used : arena.kept;
	size_t all = (size_t)(arena.end - arena.next);

	return all > above ? all - above : 0;
}

/* SIZE bytes, if so many are there and LEFT remain. */
static void *take(size_t size, size_t left)
{
	void *taken = arena.next;

	size = round_up(size);
	if (room() < left || size > room() - left)
		return NULL;
	arena.next += size;
	return taken;
}

/* -- records ------------------------------------------------------------------------------------- */

void *leakwrap_arena_take(size_t size)
{
	return take(size, arena.reserve);
}

void *leakwrap_arena_take_reserve(size_t size)
{
	void *taken = take(size, 0);

	if (room() < arena.reserve)
		arena.reserve = room();
	return taken;
}

bool leakwrap_arena_keep_scratch(size_t size)
{
	if (room() < size)
		return false;
	arena.kept += size;
	return true;
}

/* -- pages and scratch (port.h) ------------------------------------------------------------------ */

void *leakwrap_pages_map(size_t size)
{
	void *taken;

	leakwrap_lock(&arena.lock);
	taken = leakwrap_arena_take(size);
	leakwrap_unlock(&arena.lock);
	return taken;
}

/* Only for two tasks that map the same thing at once. */
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

/* Last mapped, first unmapped.  The reserve may be used: records come after a dump again. */
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
