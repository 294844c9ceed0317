/* hash_table.c - see hash_table.h.  Called for what is seen for the first time. */
#include "wrap/base/hash_table.h"

#include "wrap/base/arena.h"
#include "wrap/live/live.h"
#include "wrap/port/port.h"

#include <string.h>

struct leakwrap_hash_table_empty leakwrap_hash_table_empty;

/* Keys collide now and then: so many entries behind those that they choose are for the last ones. */
static uint32_t spare_entries(uint32_t range)
{
	return 4 + range / 16;
}

/* A table this large has pages of its own. */
#define MAPPED_SIZE ((size_t)4 << 10)

/* No table is larger. */
#define RANGE_MAX ((uint32_t)4 * LEAKWRAP_SITE_LIMIT)

/* So many entries there is room for from the start. */
#define LEAST 200

/* Few entries have so much room: looking twice costs as much as missing the processor's cache.  That of thousands is a matter of what they
 * are for. */
#define RANGE_OF_FEW 4000

/* What a table of COUNT entries needs, never less than one of fewer does. */
static uint32_t range_for(const struct leakwrap_hash_table_kind *kind, uint32_t count)
{
	const uint32_t range = count / 4 * kind->quarters;

	if (count < RANGE_OF_FEW / 4)
		return count * 4;
	return range < RANGE_OF_FEW ? RANGE_OF_FEW : range;
}

/* What a table that shall grow to COUNT entries and beyond is given. */
static uint32_t range_from(const struct leakwrap_hash_table_kind *kind, uint32_t count)
{
	if (count < LEAST)
		return range_for(kind, LEAST);
	return range_for(kind, count < RANGE_OF_FEW / 4 ? count * 2 : count + count / 8);
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

static char *entry_at(const struct leakwrap_hash_table *table,
                      const struct leakwrap_hash_table_kind *kind, size_t place)
{
	return (char *)leakwrap_hash_table_entries(table) + place * kind->size;
}

/* The first empty entry for CHOICE, or NULL when there is no room. */
static void *empty_entry(const struct leakwrap_hash_table *table,
                         const struct leakwrap_hash_table_kind *kind, uint32_t choice)
{
	for (size_t place = leakwrap_hash_table_bucket(table, choice); place + 1 < table->size;
	     place++) {
		char *entry = entry_at(table, kind, place);

		if (!kind->is_used(entry))
			return entry;
	}
	return NULL;
}

/* Puts all entries of FROM into TO, which is larger.  False when they do not fit. */
static bool copy(struct leakwrap_hash_table *to, const struct leakwrap_hash_table *from,
                 const struct leakwrap_hash_table_kind *kind)
{
	for (size_t i = 0; i < from->size; i++) {
		const char *entry = entry_at(from, kind, i);
		void *room;

		if (!kind->is_used(entry))
			continue;
		room = empty_entry(to, kind, kind->choice(entry));
		if (!room)
			return false;
		memcpy(room, entry, kind->size);
	}
	to->count = from->count;
	return true;
}

/* A table with the entries of OLD, and room for one with CHOICE and for more; or NULL when there is no memory. */
static struct leakwrap_hash_table *enlarged(const struct leakwrap_hash_table *old,
                                            const struct leakwrap_hash_table_kind *kind,
                                            uint32_t choice)
{
	for (uint32_t range = range_from(kind, old->count + 1); range <= RANGE_MAX;
	     range += range / 2) {
		struct leakwrap_hash_table *table = make(kind, range);

		if (!table)
			return NULL;
		if (copy(table, old, kind) && empty_entry(table, kind, choice))
			return table;
		leakwrap_hash_table_discard(table, kind);
	}
	return NULL;
}

void *leakwrap_hash_table_reserve(struct leakwrap_hash_table *_Atomic *table,
                                  const struct leakwrap_hash_table_kind *kind, uint32_t choice,
                                  bool from_reserve)
{
	struct leakwrap_hash_table *now = atomic_load(table), *larger;
	void *entry = empty_entry(now, kind, choice);

	if (!entry || range_for(kind, now->count + 1) > now->range) {
		larger = enlarged(now, kind, choice);
		if (larger) {
			atomic_store_explicit(table, larger, memory_order_release);
			leakwrap_hash_table_discard(now, kind);
			now = larger;
			entry = empty_entry(now, kind, choice);
		} else if (!from_reserve)
			return NULL;
	}
	if (entry)
		now->count++;
	return entry;
}

void leakwrap_hash_table_discard(struct leakwrap_hash_table *table,
                                 const struct leakwrap_hash_table_kind *kind)
{
	const size_t size = size_of(kind, table->size);

	if (size >= MAPPED_SIZE)
		leakwrap_pages_discard(table, size);
}
