/* held.c - see held.h. */
#include "wrap/live/held.h"

#include "wrap/base/hash.h"
#include "wrap/base/thread.h"
#include "wrap/port/port.h"
#include "wrap/unwind/stack_bounds.h"

#include <stdatomic.h>

/* The entries that one thread may use: a window of neighbours, chosen by the thread. */
#define WINDOW  16u
#define WINDOWS 127u

/* Set in an owner: a later call of the thread ends the hold.  The record can be read until then:
 * another thread may free the block. */
#define ENDING ((uintptr_t)1)

_Static_assert(WINDOW *WINDOWS < LEAKWRAP_HELD_LENT, "numbers begin at 1");

struct entry {
	uintptr_t sp;
	_Atomic uintptr_t address; /* 0 while the entry changes */
	_Atomic size_t size;
	_Atomic uint32_t site;
	_Atomic uint32_t hold;
};

static LEAKWRAP_TABLE struct {
	/* The thread that uses the entry, with ENDING if it was taken over; 0: unused. */
	_Atomic uintptr_t owner[WINDOW * WINDOWS];
	struct entry entry[WINDOW * WINDOWS];
} held;

/* The address of a thread's state stands for the thread. */
static uintptr_t this_thread(void)
{
	return (uintptr_t)&leakwrap_self;
}

/* Returns the first entry of the thread's window. */
static uint32_t first_of_window(void)
{
	const uint32_t hash = (uint32_t)(this_thread() >> 6) * LEAKWRAP_HASH_FACTOR_32;

	return (uint32_t)((uint64_t)hash * WINDOWS >> 32) * WINDOW;
}

static uint32_t entry_of(uint32_t hold)
{
	return (leakwrap_slot_site(hold) & (LEAKWRAP_HELD_LENT - 1)) - 1;
}

uint32_t leakwrap_held_take(const struct leakwrap_live_block *block, bool is_lent, uintptr_t sp)
{
	const uint32_t first = first_of_window();

	for (uint32_t i = first; i < first + WINDOW; i++) {
		struct entry *const entry = &held.entry[i];
		const uint32_t hold =
		        leakwrap_slot_place_site((i + 1) | (is_lent ? LEAKWRAP_HELD_LENT : 0));
		uintptr_t nobody = 0;

		if (!atomic_compare_exchange_strong(&held.owner[i], &nobody, this_thread()))
			continue;
		leakwrap_self.held++;
		entry->sp = sp;
		atomic_store(&entry->size, block->size);
		atomic_store(&entry->site, block->site);
		atomic_store(&entry->hold, hold);
		atomic_store(&entry->address, block->address);
		return hold;
	}
	return 0;
}

void leakwrap_held_give(uint32_t hold)
{
	const uint32_t i = entry_of(hold);

	atomic_store(&held.entry[i].address, 0);
	/* A coroutine may end the call in another thread. */
	if ((atomic_load(&held.owner[i]) & ~ENDING) == this_thread() && leakwrap_self.held > 0)
		leakwrap_self.held--;
	atomic_store(&held.owner[i], 0);
}

static bool read_entry(const struct entry *entry, struct leakwrap_live_block *block)
{
	block->address = atomic_load(&entry->address);
	block->size = atomic_load(&entry->size);
	block->site = atomic_load(&entry->site);
	return block->address != 0 && atomic_load(&entry->address) == block->address;
}

bool leakwrap_held_read(uint32_t hold, struct leakwrap_live_block *block)
{
	return read_entry(&held.entry[entry_of(hold)], block);
}

/* Returns whether the call with entry I, which is this thread's, has been left.  Stacks of
 * coroutines and signal handlers cannot be compared, nor can an alternate stack that is a variable
 * of an outer function. */
static bool is_left(uint32_t i, uintptr_t sp)
{
	return leakwrap_self.held == 0 ||
	       (sp >= held.entry[i].sp && leakwrap_stack_is_own(held.entry[i].sp) &&
	        leakwrap_stack_is_own(sp) && !leakwrap_thread_is_on_alternate_stack());
}

uint32_t leakwrap_held_take_left(uintptr_t sp, struct leakwrap_live_block *block)
{
	const uint32_t first = first_of_window();

	for (uint32_t i = first; i < first + WINDOW; i++) {
		uintptr_t owner = atomic_load_explicit(&held.owner[i], memory_order_relaxed);

		/* An entry that this thread was about to fill when a signal came has no hold. */
		if (owner != this_thread() || !read_entry(&held.entry[i], block) || !is_left(i, sp))
			continue;
		/* A signal handler may take it over meanwhile. */
		if (atomic_compare_exchange_strong(&held.owner[i], &owner, owner | ENDING))
			return atomic_load(&held.entry[i].hold);
	}
	return 0;
}

void leakwrap_held_get_bounds(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&held;
	*end = (uintptr_t)(&held + 1);
}
