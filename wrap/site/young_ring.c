/* young_ring.c - see young_ring.h. */
#include "wrap/site/young_ring.h"

#include "wrap/base/arena.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/thread.h"

#include <string.h>

/* The ring doubles if more than one block in this many has survived. */
#define SURVIVORS_MAX 16u

struct leakwrap_young_ring leakwrap_young_ring;

/* Adds chunks until the ring has SIZE entries.  Does nothing if the lock is held or there is no
 * memory. */
static void grow(uint32_t size)
{
	if (!leakwrap_trylock(&leakwrap_tables_lock))
		return;
	for (uint32_t i = 0; i < size / LEAKWRAP_YOUNG_CHUNK; i++) {
		struct leakwrap_young_entry *chunk = atomic_load(&leakwrap_young_ring.chunk[i]);

		if (chunk)
			continue;
		chunk = leakwrap_arena_take(LEAKWRAP_YOUNG_CHUNK * sizeof(*chunk));
		if (!chunk) {
			size = 0;
			break;
		}
		atomic_store(&leakwrap_young_ring.chunk[i], chunk);
	}
	if (size > atomic_load(&leakwrap_young_ring.size))
		atomic_store(&leakwrap_young_ring.size, size);
	leakwrap_unlock(&leakwrap_tables_lock);
}

/* A thread takes this many turns at once. */
#define TURNS 8u

/* Returns this thread's next turn.  A signal handler may come between and get the same one: then
 * the later of the two finds that the entry is in use. */
static uint32_t next_turn(void)
{
	struct leakwrap_thread *const self = &leakwrap_self;
	uint32_t turn = self->young_turn;

	if (turn % TURNS == 0)
		turn = atomic_fetch_add_explicit(&leakwrap_young_ring.turn, TURNS,
		                                 memory_order_relaxed);
	self->young_turn = turn + 1;
	return turn;
}

uint32_t leakwrap_young_ring_next(void)
{
	const uint32_t turn = next_turn();
	const uint32_t size = leakwrap_young_ring_size();
	const uint32_t place = turn & (size - 1);

	if (size == 0) {
		grow(LEAKWRAP_YOUNG_CHUNK);
		return LEAKWRAP_SITE_NONE;
	}
	if (place == 0 &&
	    atomic_exchange(&leakwrap_young_ring.survivors, 0) > size / SURVIVORS_MAX &&
	    size < LEAKWRAP_YOUNG_SITES)
		grow(2 * size);
	return LEAKWRAP_SITE_FIRST_YOUNG + place;
}

void leakwrap_young_ring_count_survivor(void)
{
	atomic_fetch_add_explicit(&leakwrap_young_ring.survivors, 1, memory_order_relaxed);
}

void leakwrap_young_ring_read(uint32_t number, struct leakwrap_trace *trace)
{
	const struct leakwrap_young_entry *const entry = leakwrap_young_ring_entry(number);

	trace->depth = entry->depth;
	trace->kind = (enum leakwrap_trace_kind)entry->kind;
	trace->modules = NULL;
	memcpy(trace->pcs, entry->pcs, trace->depth * sizeof(trace->pcs[0]));
}
