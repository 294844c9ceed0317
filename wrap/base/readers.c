/* readers.c - see readers.h. */
#include "wrap/base/readers.h"

#include <stdatomic.h>

#define SLOTS     64u
#define SLOT_BITS 6

/* Readers inside, by slot.  Each counter has a cache line of its own. */
static struct {
	_Alignas(64) _Atomic int count;
} inside[SLOTS];

/* Threads have stacks of their own. */
static unsigned slot_of_thread(void)
{
	const uint32_t stack = (uint32_t)((uintptr_t)__builtin_frame_address(0) >> 16);

	return stack * 0x9e3779b1u >> (32 - SLOT_BITS);
}

unsigned leakwrap_readers_enter(void)
{
	const unsigned slot = slot_of_thread();

	atomic_fetch_add(&inside[slot].count, 1);
	atomic_thread_fence(memory_order_seq_cst); /* the tables are read after that */
	return slot;
}

void leakwrap_readers_leave(unsigned entered)
{
	atomic_fetch_sub_explicit(&inside[entered].count, 1, memory_order_release);
}

void leakwrap_grace_begin(struct leakwrap_grace *grace)
{
	grace->slots = UINT64_MAX;
	atomic_thread_fence(memory_order_seq_cst);
}

/* A slot may have been empty at any time since the beginning.  A reader that enters later cannot
 * find what is unlinked.  After a fork a count may be negative: see leakwrap_readers_forked. */
bool leakwrap_grace_is_over(struct leakwrap_grace *grace)
{
	for (unsigned slot = 0; slot < SLOTS; slot++)
		if (grace->slots >> slot & 1 && atomic_load(&inside[slot].count) <= 0)
			grace->slots &= ~((uint64_t)1 << slot);
	return grace->slots == 0;
}

/* The thread that forks may be inside itself.  It leaves later, so its count becomes negative. */
void leakwrap_readers_forked(void)
{
	for (unsigned slot = 0; slot < SLOTS; slot++)
		atomic_store(&inside[slot].count, 0);
}
