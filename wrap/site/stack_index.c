/* stack_index.c - see stack_index.h.  Called when a stack was not recognized and has been walked. */
#include "wrap/site/stack_index.h"

struct leakwrap_hashed *_Atomic leakwrap_seen_table = &leakwrap_hashed_nothing.table;

static bool is_used(const void *entry)
{
	return atomic_load(&((const struct leakwrap_seen *)entry)->value) != 0;
}

static uint32_t choice_of(const void *entry)
{
	return leakwrap_hashed_choice(leakwrap_seen_key(entry));
}

static const struct leakwrap_hashed_kind entries = {
        .size = sizeof(struct leakwrap_seen),
        .quarters = 7, /* each allocation looks */
        .is_used = is_used,
        .choice = choice_of,
};

bool leakwrap_seen_add(uint64_t key, uint32_t number)
{
	struct leakwrap_seen *entry;

	if (leakwrap_seen_value(key) != 0)
		return false;
	entry = leakwrap_hashed_room(&leakwrap_seen_table, &entries, leakwrap_hashed_choice(key),
	                             false);
	if (!entry)
		return false;
	atomic_store_explicit(&entry->half, leakwrap_seen_half(key), memory_order_relaxed);
	memcpy(&entry->other, (const char *)&key + sizeof(entry->half), sizeof(entry->other));
	atomic_store_explicit(&entry->value, leakwrap_slot_value(0, number, 0), memory_order_release);
	return true;
}

void leakwrap_seen_forget(void)
{
	struct leakwrap_hashed *const table = atomic_load(&leakwrap_seen_table);

	atomic_store(&leakwrap_seen_table, &leakwrap_hashed_nothing.table);
	leakwrap_hashed_discard(table, &entries);
}
