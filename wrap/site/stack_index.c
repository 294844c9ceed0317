/* stack_index.c - see stack_index.h.  Called after a walk, for a stack that is not in the index. */
#include "wrap/site/stack_index.h"

#include "wrap/live/slot.h"

struct leakwrap_hash_table *_Atomic leakwrap_stack_index = &leakwrap_hash_table_empty.table;

static bool is_used(const void *entry)
{
	return atomic_load(&((const struct leakwrap_stack_entry *)entry)->value) != 0;
}

static uint32_t hash_of(const void *entry)
{
	return leakwrap_hash_of_key(leakwrap_stack_entry_key(entry));
}

static const struct leakwrap_hash_table_kind entries = {
        .size = sizeof(struct leakwrap_stack_entry),
        .buckets_per_4 = 7, /* sparse: every allocation probes the table */
        .is_used = is_used,
        .max_range = (uint32_t)4 * LEAKWRAP_SITE_LIMIT,
        .hash = hash_of,
};

bool leakwrap_stack_index_add(uint64_t key, uint32_t number)
{
	struct leakwrap_stack_entry *entry;

	if (leakwrap_stack_index_find(key) != 0)
		return false;
	entry = leakwrap_hash_table_reserve(&leakwrap_stack_index, &entries,
	                                    leakwrap_hash_of_key(key), false);
	if (!entry)
		return false;
	atomic_store_explicit(&entry->key_lo, leakwrap_stack_key_lo(key), memory_order_relaxed);
	memcpy(&entry->key_hi, (const char *)&key + sizeof(entry->key_lo), sizeof(entry->key_hi));
	atomic_store_explicit(&entry->value, leakwrap_slot_value(0, number, 0),
	                      memory_order_release);
	return true;
}

void leakwrap_stack_index_clear(void)
{
	struct leakwrap_hash_table *const table = atomic_load(&leakwrap_stack_index);

	atomic_store(&leakwrap_stack_index, &leakwrap_hash_table_empty.table);
	leakwrap_hash_table_discard(table, &entries);
}
