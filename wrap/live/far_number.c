/* far_number.c - see far_number.h. */
#include "wrap/live/far_number.h"

#include "wrap/live/region_slots.h"
#include "wrap/port/port.h"

_Static_assert(sizeof(leakwrap_live_slot) == sizeof(uint32_t),
               "pages of slots and pages of the far table belong together");

/* Returns the word for SLOT in the far table of REGION, or NULL if it has none. */
static _Atomic uint32_t *word_of(const struct leakwrap_region *region,
                                 const leakwrap_live_slot *slot)
{
	_Atomic uint32_t *const table =
	        atomic_load_explicit(&region->far_table, memory_order_acquire);

	return table ? table + (slot - region->slots) : NULL;
}

/* Does what word_of does, but makes the table.  Returns NULL if there is no memory. */
static _Atomic uint32_t *make_word_of(struct leakwrap_region *region,
                                      const leakwrap_live_slot *slot)
{
	const size_t size = region->layout.slots * sizeof(uint32_t);
	_Atomic uint32_t *table, *none = NULL;

	if (atomic_load_explicit(&region->far_table, memory_order_acquire))
		return word_of(region, slot);
	table = leakwrap_pages_map_sparse(size, false);
	/* Another thread may have made one meanwhile, or this one in a signal handler. */
	if (table && !atomic_compare_exchange_strong(&region->far_table, &none, table))
		leakwrap_pages_unmap(table, size);
	return word_of(region, slot);
}

uint32_t leakwrap_far_number(const struct leakwrap_region *region, const leakwrap_live_slot *slot)
{
	const _Atomic uint32_t *const word = word_of(region, slot);
	const uint32_t number = word ? atomic_load_explicit(word, memory_order_acquire) : 0;

	return number != 0 ? number : LEAKWRAP_SITE_LOST;
}

bool leakwrap_far_number_store(struct leakwrap_region *region, const leakwrap_live_slot *slot,
                               uint32_t number)
{
	_Atomic uint32_t *const word = make_word_of(region, slot);

	if (!word)
		return false;
	atomic_store(word, number);
	return true;
}

void leakwrap_far_number_confirm(struct leakwrap_region *region, const leakwrap_live_slot *slot,
                                 uint32_t number)
{
	_Atomic uint32_t *const word = word_of(region, slot);

	if (word && atomic_load(word) != number)
		atomic_store(word, number);
}

/* The block may be freed at any time, and SLOT and the word may get another block's number.  Then
 * the word is not what it was before, or SLOT is not: that number stays, or is put back. */
bool leakwrap_far_number_replace(struct leakwrap_region *region, leakwrap_live_slot *slot,
                                 uint32_t value, uint32_t to)
{
	_Atomic uint32_t *const word = make_word_of(region, slot);
	const uint32_t with_far = leakwrap_slot_value(leakwrap_slot_size(value), LEAKWRAP_SITE_FAR,
	                                              leakwrap_slot_within(value));
	uint32_t before, stored = to, none = 0;

	if (!word)
		return false;
	before = atomic_load(word);
	if (atomic_load(slot) != value || !atomic_compare_exchange_strong(word, &before, to))
		return true;
	if (!atomic_compare_exchange_strong(slot, &value, with_far))
		atomic_compare_exchange_strong(word, &stored, before);
	else if (atomic_load(word) == 0)
		atomic_compare_exchange_strong(word, &none, to); /* reclaim has detached it */
	return true;
}

/* A slot on a page that is not in memory has got nothing since the page was detached.  To read it
 * would bring the page in. */
void leakwrap_far_numbers_reclaim(struct leakwrap_region *region, const char *start, size_t size)
{
	const leakwrap_live_slot *const slot = (const leakwrap_live_slot *)start;
	_Atomic uint32_t *const word = word_of(region, slot);
	uint32_t *const detached = word ? leakwrap_pages_detach(word, size) : NULL;
	uint64_t present;
	size_t page;

	if (!detached)
		return;
	present = leakwrap_pages_present(start, size, &page);
	for (size_t i = 0; present != 0 && i < size / sizeof(*detached); i++) {
		uint32_t value, none = 0;

		if (!(present >> i * sizeof(*detached) / page & 1))
			continue;
		value = atomic_load(&slot[i]);
		if (leakwrap_slot_is_block(value) && leakwrap_slot_site(value) == LEAKWRAP_SITE_FAR)
			atomic_compare_exchange_strong(&word[i], &none, detached[i]);
	}
	leakwrap_scratch_unmap(detached, size);
}
