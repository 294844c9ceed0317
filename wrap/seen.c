/* seen.c - see seen.h.  Called when a stack was not recognized and has been walked. */
#include "seen.h"

/* So many there is room for from the start. */
#define LEAST_SEEN 100

/* Before the first one is added. */
static struct {
	struct leakwrap_hashed table;
	struct leakwrap_seen none;
} nothing;

struct leakwrap_hashed *_Atomic leakwrap_seen_table = &nothing.table;

static bool is_used(const void *entry)
{
	return atomic_load(&((const struct leakwrap_seen *)entry)->number) != LEAKWRAP_SITE_NONE;
}

static uintptr_t key_of_entry(const void *entry, const void *unused)
{
	(void)unused;
	return leakwrap_seen_choice(leakwrap_seen_key(entry));
}

static const struct leakwrap_hashed_kind entries = {
        .size = sizeof(struct leakwrap_seen),
        .is_used = is_used,
        .key = key_of_entry,
};

bool leakwrap_seen_add(uint64_t key, uint32_t number)
{
	struct leakwrap_hashed *first;
	struct leakwrap_seen *entry;

	if (leakwrap_seen_number(key) != LEAKWRAP_SITE_NONE)
		return false;
	if (atomic_load(&leakwrap_seen_table) == &nothing.table) {
		first = leakwrap_hashed_make(&entries, LEAST_SEEN);
		if (!first)
			return false;
		atomic_store(&leakwrap_seen_table, first);
	}
	entry = leakwrap_hashed_room(&leakwrap_seen_table, &entries, NULL, leakwrap_seen_choice(key));
	if (!entry)
		return false;
	memcpy(entry->key, &key, sizeof(key));
	atomic_store_explicit(&entry->number, number, memory_order_release);
	return true;
}
