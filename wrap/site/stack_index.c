/* stack_index.c - see stack_index.h.  Called after a walk, for a stack that is not in the index. */
#include "wrap/site/stack_index.h"

#include "wrap/live/slot.h"

struct leakwrap_hash_table *_Atomic leakwrap_stack_index = &leakwrap_hash_table_empty.table;

static bool is_used(const void *entry)
{
	return atomic_load(&((const struct leakwrap_stack_entry *)entry)->value) != 0;
}

static uint64_t hash_of(const void *entry)
{
	return leakwrap_stack_entry_key(entry);
}

static const struct leakwrap_hash_table_kind entries = {
        .size = sizeof(struct leakwrap_stack_entry),
        .buckets_per_4 = 7, /* sparse: every allocation probes the table */
        .is_used = is_used,
        .max_range = (uint32_t)4 * LEAKWRAP_NEAR_LIMIT,
        .hash = hash_of,
};

/* Writes an empty ENTRY, the value last. */
static void write_entry(struct leakwrap_stack_entry *entry, uint64_t key, uint32_t value)
{
	uint32_t half[2];

	memcpy(half, &key, sizeof(half));
	atomic_store_explicit(&entry->key_lo, half[0], memory_order_relaxed);
	entry->key_hi = half[1];
	atomic_store_explicit(&entry->value, value, memory_order_release);
}

bool leakwrap_stack_index_add(uint64_t key, uint32_t number)
{
	struct leakwrap_stack_entry *entry;

	if (leakwrap_stack_index_find(key) != 0)
		return false;
	entry = leakwrap_hash_table_reserve(&leakwrap_stack_index, &entries, key);
	if (!entry)
		return false;
	write_entry(entry, key, leakwrap_slot_value(0, number, 0));
	return true;
}

uint32_t leakwrap_stack_index_count(void)
{
	return atomic_load(&leakwrap_stack_index)->count;
}

/* Moves ENTRY to the first empty entry from its bucket on, if that lies before it. */
static void move_forward(struct leakwrap_hash_table *table, struct leakwrap_stack_entry *entry)
{
	const uint64_t key = leakwrap_stack_entry_key(entry);
	struct leakwrap_stack_entry *to =
	        (struct leakwrap_stack_entry *)leakwrap_hash_table_entries(table) +
	        leakwrap_hash_table_bucket(table, key);

	while (to != entry && atomic_load_explicit(&to->value, memory_order_relaxed) != 0)
		to++;
	if (to == entry)
		return;
	write_entry(to, key, entry->value);
	atomic_store_explicit(&entry->value, 0, memory_order_relaxed);
}

/* A lookup finds no empty entry between a key's bucket and the key.  So keys behind removed ones
 * move forward, in the order of the table. */
void leakwrap_stack_index_keep(bool (*is_kept)(uint32_t number))
{
	struct leakwrap_hash_table *const table = atomic_load(&leakwrap_stack_index);
	struct leakwrap_stack_entry *const first =
	        (struct leakwrap_stack_entry *)leakwrap_hash_table_entries(table);

	for (size_t i = 0; i < table->size; i++) {
		const uint32_t value = atomic_load_explicit(&first[i].value, memory_order_relaxed);

		if (value == 0)
			continue;
		if (is_kept(leakwrap_slot_site(value))) {
			move_forward(table, &first[i]);
		} else {
			atomic_store_explicit(&first[i].value, 0, memory_order_relaxed);
			table->count--;
		}
	}
}

/* The table stays in place: the fast path reads it and tells nobody.  A reader may meet an
 * entry that is written anew.  It reads the value first and compares the whole key afterwards, so
 * it mostly finds the old call site, the new call site or none.
 *
 * Known limit: between the two, the entry may be emptied and then be given the reader's own key.
 * Then the reader takes another key's old call site, and one block is shown under it.
 *
 * Entries that are empty are not written: a forked child would copy their pages. */
void leakwrap_stack_index_clear(void)
{
	struct leakwrap_hash_table *const table = atomic_load(&leakwrap_stack_index);
	struct leakwrap_stack_entry *entry =
	        (struct leakwrap_stack_entry *)leakwrap_hash_table_entries(table);

	for (size_t i = 0; table->count > 0 && i < table->size; i++)
		if (atomic_load_explicit(&entry[i].value, memory_order_relaxed) != 0)
			atomic_store_explicit(&entry[i].value, 0, memory_order_relaxed);
	table->count = 0;
}
