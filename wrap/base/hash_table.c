/* hash_table.c - see hash_table.h.  All functions here serve the first sight of a key. */
#include "wrap/base/hash_table.h"

#include "wrap/base/arena.h"
#include "wrap/port/port.h"

struct leakwrap_hash_table_empty leakwrap_hash_table_empty;

/* Returns the number of entries past the last bucket.  A probe that starts there needs them. */
static uint32_t spare_entries(uint32_t range)
{
	return 4 + range / 16;
}

/* A table of this size or more, in bytes, has pages of its own. */
#define MAPPED_SIZE ((size_t)4 << 10)

/* The first table has room for this number of entries. */
#define FIRST_ENTRIES 200

/* Number of buckets from which a table counts as large.  A smaller table has four buckets for each
 * entry, because a second probe costs as much as a cache miss.  A large table's load depends on its
 * purpose (buckets_per_4). */
#define LARGE_RANGE 4000

/* Returns the number of buckets that COUNT entries need.  Never decreases as COUNT grows. */
static uint32_t range_for(const struct leakwrap_hash_table_kind *kind, uint32_t count)
{
	const uint32_t range = count / 4 * kind->buckets_per_4;

	if (count < LARGE_RANGE / 4)
		return count * 4;
	return range < LARGE_RANGE ? LARGE_RANGE : range;
}

/* Returns the number of buckets for a new table that will grow to COUNT entries and beyond. */
static uint32_t range_to_grow_to(const struct leakwrap_hash_table_kind *kind, uint32_t count)
{
	if (count < FIRST_ENTRIES)
		return range_for(kind, FIRST_ENTRIES);
	return range_for(kind, count < LARGE_RANGE / 4 ? count * 2 : count + count / 4);
}

static size_t size_of(const struct leakwrap_hash_table_kind *kind, size_t entries)
{
	return sizeof(struct leakwrap_hash_table) + entries * kind->size;
}

static struct leakwrap_hash_table *make(const struct leakwrap_hash_table_kind *kind, uint32_t range)
{
	const uint32_t entries = range + spare_entries(range);
	const size_t size = size_of(kind, entries);
	struct leakwrap_hash_table *table =
	        size < MAPPED_SIZE ? leakwrap_arena_take(size) : leakwrap_pages_map(size);

	if (table) {
		table->range = range;
		table->size = entries;
	}
	return table;
}

/* Gives back TABLE, which has SIZE bytes. */
static void give(void *table, size_t size)
{
	if (size < MAPPED_SIZE)
		leakwrap_arena_give(table, size);
	else
		leakwrap_pages_unmap(table, size);
}

static char *entry_at(const struct leakwrap_hash_table *table,
                      const struct leakwrap_hash_table_kind *kind, size_t index)
{
	return (char *)leakwrap_hash_table_entries(table) + index * kind->size;
}

/* Returns the first empty entry for HASH, or NULL if there is none. */
static void *find_empty_entry(const struct leakwrap_hash_table *table,
                              const struct leakwrap_hash_table_kind *kind, uint64_t hash)
{
	for (size_t index = leakwrap_hash_table_bucket(table, hash); index + 1 < table->size;
	     index++) {
		char *entry = entry_at(table, kind, index);

		if (!kind->is_used(entry))
			return entry;
	}
	return NULL;
}

/* Copies an entry of SIZE bytes.  It is read atomically: a thread may try in vain to fill an entry
 * that is closed. */
static void copy_entry(uint32_t *to, const _Atomic uint32_t *from, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
}

/* Copies the entries of FROM for which KEEP returns true into TO; KEEP NULL: all.  Returns false if
 * they do not fit. */
static bool copy_entries(struct leakwrap_hash_table *to, const struct leakwrap_hash_table *from,
                         const struct leakwrap_hash_table_kind *kind,
                         bool (*keep)(const void *entry))
{
	for (size_t i = 0; i < from->size; i++) {
		char *entry = entry_at(from, kind, i);
		void *to_entry;

		if (kind->set_closed)
			kind->set_closed(entry, true);
		if (!kind->is_used(entry) || (keep && !keep(entry)))
			continue;
		to_entry = find_empty_entry(to, kind, kind->hash(entry));
		if (!to_entry)
			return false;
		copy_entry(to_entry, (const void *)entry, kind->size);
		to->count++;
	}
	return true;
}

/* Opens the entries of TABLE that copy_entries has closed. */
static void open_entries(const struct leakwrap_hash_table *table,
                         const struct leakwrap_hash_table_kind *kind)
{
	for (size_t i = 0; kind->set_closed && i < table->size; i++)
		kind->set_closed(entry_at(table, kind, i), false);
}

/* Makes a table with the entries of OLD and room for a key with this HASH and for more.  Returns
 * NULL if there is no memory. */
static struct leakwrap_hash_table *make_larger(const struct leakwrap_hash_table *old,
                                               const struct leakwrap_hash_table_kind *kind,
                                               uint64_t hash)
{
	for (uint32_t range = range_to_grow_to(kind, old->count + 1); range <= kind->max_range;
	     range += range / 2) {
		struct leakwrap_hash_table *table = make(kind, range);

		if (!table)
			break;
		if (copy_entries(table, old, kind, NULL) && find_empty_entry(table, kind, hash))
			return table;
		give(table, size_of(kind, table->size));
		open_entries(old, kind);
	}
	return NULL;
}

bool leakwrap_hash_table_has_room(const struct leakwrap_hash_table *table,
                                  const struct leakwrap_hash_table_kind *kind)
{
	return range_for(kind, table->count + 1) <= table->range;
}

bool leakwrap_hash_table_grow(struct leakwrap_hash_table *_Atomic *table,
                              const struct leakwrap_hash_table_kind *kind,
                              struct leakwrap_replaced_tables *replaced)
{
	struct leakwrap_hash_table *const old = atomic_load(table);
	struct leakwrap_hash_table *const larger = make_larger(old, kind, 0);
	const size_t size = size_of(kind, old->size);

	if (!larger)
		return false;
	atomic_store(table, larger);
	/* The last place is left for a table that was copied.  Each growth adds a quarter or more,
	 * so the other places nearly always suffice. */
	if (replaced->count == LEAKWRAP_REPLACED_TABLES - 1) {
		leakwrap_hash_table_discard(old, kind);
		return true;
	}
	leakwrap_hash_table_retire(old, kind, replaced);
	if (size >= MAPPED_SIZE)
		leakwrap_pages_empty(old, size);
	return true;
}

void leakwrap_hash_table_retire(const struct leakwrap_hash_table *table,
                                const struct leakwrap_hash_table_kind *kind,
                                struct leakwrap_replaced_tables *replaced)
{
	if (table == &leakwrap_hash_table_empty.table)
		return;
	replaced->at[replaced->count].table = (void *)(uintptr_t)table;
	replaced->at[replaced->count++].size = size_of(kind, table->size);
}

void leakwrap_replaced_tables_free(struct leakwrap_replaced_tables *replaced)
{
	while (replaced->count > 0) {
		replaced->count--;
		give(replaced->at[replaced->count].table, replaced->at[replaced->count].size);
	}
}

void *leakwrap_hash_table_reserve(struct leakwrap_hash_table *_Atomic *table,
                                  const struct leakwrap_hash_table_kind *kind, uint64_t hash)
{
	struct leakwrap_hash_table *current = atomic_load(table), *larger;
	void *entry = find_empty_entry(current, kind, hash);

	if (!entry || !leakwrap_hash_table_has_room(current, kind)) {
		larger = make_larger(current, kind, hash);
		if (!larger)
			return NULL;
		atomic_store_explicit(table, larger, memory_order_release);
		leakwrap_hash_table_discard(current, kind);
		current = larger;
		entry = find_empty_entry(current, kind, hash);
	}
	current->count++;
	return entry;
}

struct leakwrap_hash_table *leakwrap_hash_table_copy(const struct leakwrap_hash_table *from,
                                                     const struct leakwrap_hash_table_kind *kind,
                                                     bool (*keep)(const void *entry), uint32_t more)
{
	uint32_t count = more;

	for (size_t i = 0; i < from->size; i++) {
		const char *entry = entry_at(from, kind, i);

		if (kind->is_used(entry) && keep(entry))
			count++;
	}
	for (uint32_t range = range_to_grow_to(kind, count); range <= kind->max_range;
	     range += range / 2) {
		struct leakwrap_hash_table *table = make(kind, range);

		if (!table)
			break;
		if (copy_entries(table, from, kind, keep))
			return table;
		give(table, size_of(kind, table->size));
		open_entries(from, kind);
	}
	return NULL;
}

void leakwrap_hash_table_discard(struct leakwrap_hash_table *table,
                                 const struct leakwrap_hash_table_kind *kind)
{
	const size_t size = size_of(kind, table->size);

	if (size >= MAPPED_SIZE)
		leakwrap_pages_discard(table, size);
}
