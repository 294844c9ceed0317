/* readers.c - see readers.h. */
#include "wrap/base/readers.h"

#include "wrap/base/thread.h"

#include <stdatomic.h>

#define SLOTS     LEAKWRAP_READERS_NONE
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

static bool is_on_own_stack(const struct leakwrap_thread *self, uintptr_t sp)
{
	return self->stack_high - sp - 1 < self->stack_room;
}

/* Returns whether the outermost entry of the thread, which is inside, was left by longjmp: a signal
 * handler has interrupted a reader and has not returned.  The thread is LOWEST or higher on its
 * stack now. */
static bool is_abandoned(const struct leakwrap_thread *self, uintptr_t lowest)
{
	return lowest > self->reader_sp && is_on_own_stack(self, lowest) &&
	       is_on_own_stack(self, self->reader_sp);
}

/* Enters at PLACE on the stack, while the thread is LOWEST or higher (is_abandoned).
 *
 * A signal handler may interrupt between any two instructions.  It must not find reader_sp while
 * the entry is not counted. */
static unsigned enter(uintptr_t place, uintptr_t lowest)
{
	struct leakwrap_thread *const self = &leakwrap_self;
	const unsigned slot = slot_of_thread();

	if (self->reader_sp != 0) {
		if (!is_abandoned(self, lowest))
			return LEAKWRAP_READERS_NONE; /* the outer entry is counted */
		leakwrap_readers_leave(self->reader_slot);
	}
	atomic_fetch_add(&inside[slot].count, 1);
	self->reader_slot = slot;
	atomic_signal_fence(memory_order_seq_cst);
	self->reader_sp = place;
	atomic_thread_fence(memory_order_seq_cst); /* the tables are read after that */
	return slot;
}

unsigned leakwrap_readers_enter(void)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	return enter(sp, sp);
}

/* What the entry at SP calls has its stack below SP, and so has a signal handler.  An entry at SP
 * itself is a later call. */
unsigned leakwrap_readers_enter_from(uintptr_t sp)
{
	return enter(sp, sp + 1);
}

void leakwrap_readers_leave(unsigned entered)
{
	if (entered == LEAKWRAP_READERS_NONE)
		return;
	leakwrap_self.reader_sp = 0;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_fetch_sub_explicit(&inside[entered].count, 1, memory_order_release);
}

void leakwrap_grace_begin(struct leakwrap_grace *grace)
{
	grace->slots = UINT64_MAX;
	atomic_thread_fence(memory_order_seq_cst);
}

/* A slot may have been empty at any time since the beginning.  A reader that enters later cannot
 * find what is unlinked. */
bool leakwrap_grace_is_over(struct leakwrap_grace *grace)
{
	for (unsigned slot = 0; slot < SLOTS; slot++)
		if (grace->slots >> slot & 1 && atomic_load(&inside[slot].count) == 0)
			grace->slots &= ~((uint64_t)1 << slot);
	return grace->slots == 0;
}

/* The thread that forks may be inside itself: a signal handler forks. */
void leakwrap_readers_forked(void)
{
	for (unsigned slot = 0; slot < SLOTS; slot++)
		atomic_store(&inside[slot].count, 0);
	if (leakwrap_self.reader_sp != 0)
		atomic_store(&inside[leakwrap_self.reader_slot].count, 1);
}
