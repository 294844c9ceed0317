/* young_site.c - see young_site.h. */
#include "wrap/site/young_site.h"

#include "wrap/arch/arch.h"
#include "wrap/base/readers.h"
#include "wrap/live/fast.h"
#include "wrap/live/live.h"
#include "wrap/site/base_backtrace.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_table.h"
#include "wrap/site/young_ring.h"

#include <stdatomic.h>
#include <string.h>

/* Returns the backtrace of ENTRY. */
static struct leakwrap_trace trace_of(struct leakwrap_young_entry *entry)
{
	return (struct leakwrap_trace){.pcs = entry->pcs,
	                               .depth = entry->depth,
	                               .kind = (enum leakwrap_trace_kind)entry->kind};
}

/* Finds or adds the call site of ENTRY in the table. */
static uint32_t number_of(struct leakwrap_young_entry *entry)
{
	const struct leakwrap_trace trace = trace_of(entry);

	return leakwrap_site_intern(&trace, NULL);
}

/* Returns whether BLOCK certainly is not recorded with NUMBER.  A region that the fast path sees
 * has no exact blocks. */
static bool is_gone(const void *block, uint32_t number)
{
	leakwrap_live_slot *slot;
	uint32_t within;

	return leakwrap_slot_fast_find((uintptr_t)block, &slot, &within) &&
	       !leakwrap_slot_is_of_site(atomic_load_explicit(slot, memory_order_relaxed), number);
}

/* Lets dumps list young call sites. */
static void list_young(void)
{
	atomic_store(&leakwrap_young_ring.is_listed, true);
	leakwrap_sites_note_repeats();
}

/* Settles the record of BLOCK if it has NUMBER, of ENTRY.  Returns false if it still has NUMBER:
 * then nobody may write ENTRY again. */
static bool settle(const void *block, uint32_t number, struct leakwrap_young_entry *entry)
{
	if (leakwrap_likely(is_gone(block, number)))
		return true;
	if (leakwrap_live_has_site(block, number)) {
		leakwrap_young_ring_count_survivor();
		leakwrap_live_change_site(block, number, number_of(entry));
	}
	/* Pages of slots that were reclaimed may have made it an exact block. */
	if (leakwrap_live_find(block).site != number)
		return true;
	list_young();
	return false;
}

/* Takes ENTRY.  Returns false if it is taken already.  Sets *BEFORE to the block that has its call
 * site, or had it. */
static bool take_entry(struct leakwrap_young_entry *entry, uintptr_t *before)
{
	*before = atomic_load(&entry->block);
	while ((*before & LEAKWRAP_YOUNG_TAKEN) == 0)
		if (atomic_compare_exchange_weak(&entry->block, before,
		                                 *before | LEAKWRAP_YOUNG_TAKEN))
			return true;
	return false;
}

/* Keeps the loads before it and behind it in order.  It pairs with the full fence in
 * leakwrap_site_numbers_hold.  A full fence costs more than the loads. */
static inline void fence_between_loads(void)
{
#if LEAKWRAP_LOADS_ARE_ORDERED
	atomic_thread_fence(memory_order_acquire);
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

uint32_t leakwrap_young_site_take(const struct leakwrap_trace *trace)
{
	struct leakwrap_young_entry *entry;
	uintptr_t before;
	uint32_t number;

	if (trace->depth > LEAKWRAP_YOUNG_DEPTH_MAX || leakwrap_site_numbers_are_held() ||
	    leakwrap_base_backtrace_modules(trace))
		return LEAKWRAP_SITE_NONE;
	number = leakwrap_young_ring_next();
	if (number == LEAKWRAP_SITE_NONE)
		return LEAKWRAP_SITE_NONE;
	entry = leakwrap_young_ring_entry(number);
	__builtin_prefetch(entry + 1, 1); /* mostly this thread's next entry */
	if (!take_entry(entry, &before) ||
	    (before != LEAKWRAP_YOUNG_FREE && !settle((const void *)before, number, entry)))
		return LEAKWRAP_SITE_NONE;
	/* Who holds the numbers may have read NUMBER before, and reads the backtrace later. */
	fence_between_loads();
	if (leakwrap_site_numbers_are_held()) {
		atomic_store(&entry->block, LEAKWRAP_YOUNG_FREE);
		return LEAKWRAP_SITE_NONE;
	}
	entry->depth = trace->depth;
	entry->kind = (uint32_t)trace->kind;
	memcpy(entry->pcs, trace->pcs, trace->depth * sizeof(trace->pcs[0]));
	atomic_thread_fence(memory_order_release);
	return number;
}

void leakwrap_young_site_assign(uint32_t number, const void *block)
{
	atomic_store_explicit(&leakwrap_young_ring_entry(number)->block, (uintptr_t)block,
	                      memory_order_release);
}

uint32_t leakwrap_young_site_drop(uint32_t number)
{
	struct leakwrap_young_entry *const entry = leakwrap_young_ring_entry(number);
	const uint32_t in_table = number_of(entry);

	atomic_store_explicit(&entry->block, LEAKWRAP_YOUNG_FREE, memory_order_release);
	return in_table;
}

/* Settles the record of BLOCK, whose entry, NUMBER, another thread has just taken.  That thread
 * settles the record, too, before it writes the entry: as long as the record has NUMBER, what was
 * read is BLOCK's. */
static void settle_taken(const void *block, uint32_t number)
{
	uintptr_t pcs[LEAKWRAP_YOUNG_DEPTH_MAX];
	struct leakwrap_trace trace = {.pcs = pcs};

	leakwrap_young_ring_read(number, &trace);
	atomic_thread_fence(memory_order_seq_cst);
	if (leakwrap_live_has_site(block, number))
		leakwrap_live_change_site(block, number, leakwrap_site_intern(&trace, NULL));
}

/* A reader, so that no collection frees the number before the slot has it. */
void leakwrap_young_site_settle(const void *block)
{
	uintptr_t before = (uintptr_t)block;
	struct leakwrap_young_entry *entry;
	enum leakwrap_readers_entry entered;
	uint32_t site;

	if (leakwrap_young_ring_size() == 0)
		return;
	site = leakwrap_live_find(block).site;
	if (!leakwrap_site_is_young(site))
		return;
	entry = leakwrap_young_ring_entry(site);
	entered = leakwrap_readers_enter();
	if (!atomic_compare_exchange_strong(&entry->block, &before, before | LEAKWRAP_YOUNG_TAKEN))
		settle_taken(block, site);
	else if (settle(block, site, entry))
		atomic_store(&entry->block, LEAKWRAP_YOUNG_FREE);
	leakwrap_readers_leave(entered);
}

/* Settles the record of the block that has the call site NUMBER.  The numbers are held.  Another
 * thread may have taken the entry to settle the record, and may be stopped meanwhile.  It does not
 * write the entry while the numbers are held. */
static void settle_now(uint32_t number, bool has_lock)
{
	struct leakwrap_young_entry *const entry = leakwrap_young_ring_entry(number);
	const uintptr_t block = atomic_load(&entry->block) & ~(uintptr_t)LEAKWRAP_YOUNG_TAKEN;
	struct leakwrap_trace trace;
	uint32_t in_table;

	if (block == LEAKWRAP_YOUNG_FREE || !leakwrap_live_has_site((const void *)block, number))
		return;
	atomic_thread_fence(memory_order_acquire); /* the record is as new as the entry */
	trace = trace_of(entry);
	in_table = leakwrap_site_intern_now(&trace, has_lock);
	if (in_table == LEAKWRAP_SITE_NONE ||
	    !leakwrap_live_change_site((const void *)block, number, in_table))
		list_young();
}

void leakwrap_young_sites_settle(bool has_lock)
{
	const uint32_t size = leakwrap_young_ring_size();
	enum leakwrap_readers_entry entered;

	leakwrap_site_numbers_hold();
	entered = leakwrap_readers_enter(); /* a number is found before a block has it */
	for (uint32_t i = 0; i < size; i++)
		settle_now(LEAKWRAP_SITE_FIRST_YOUNG + i, has_lock);
	leakwrap_readers_leave(entered);
	leakwrap_site_numbers_release();
}
