/* hash_table.h - hash tables that are read without a lock.  They serve call sites, of which there
 * may be very many, and which the fast path looks up.
 *
 * Open addressing with linear probing.  A table is never full: a lookup goes from the bucket of its
 * hash to the first empty entry.  An entry is written once.  A table that has become too small is
 * replaced.  The old table stays mapped for its readers, but its entries may become zero, so they
 * may find it empty.  If it is known when they have left (readers.h), it is unmapped then.
 *
 * Lookups are signal-safe.  The caller of all other functions holds the tables' lock.
 */
#ifndef LEAKWRAP_HASH_TABLE_H
#define LEAKWRAP_HASH_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

/* A table.  Its entries follow it in memory.  An empty entry is zero. */
struct leakwrap_hash_table {
	_Alignas(uint64_t) uintptr_t range; /* number of buckets: below 1 << 32 */
	uint32_t size;                      /* number of entries; the last entry stays empty */
	_Atomic uint32_t count;             /* number of used entries */
};

/* The first table of each kind.  It has one bucket.  Its entries are all empty and stay so. */
extern LEAKWRAP_HIDDEN struct leakwrap_hash_table_empty {
	struct leakwrap_hash_table table;
	uint64_t entry[3];
} leakwrap_hash_table_empty;

/* Describes the entries of a table. */
struct leakwrap_hash_table_kind {
	size_t size; /* bytes of an entry, whole uint32_t: at most half of the empty table's */
	uint32_t buckets_per_4; /* buckets per four entries in a large table (7: load 4/7) */
	uint32_t max_range;     /* the most buckets */
	bool (*is_used)(const void *entry);
	uint64_t (*hash)(const void *entry); /* hash of a used entry's key */
	/* If entries are written without the lock, else NULL: closes an empty entry, which then
	 * cannot be written, or opens a closed entry.  Closed entries do not count as used. */
	void (*set_closed)(void *entry, bool is_closed);
};

LEAKWRAP_INLINE const void *leakwrap_hash_table_entries(const struct leakwrap_hash_table *table)
{
	return table + 1;
}

/* Returns the index of the bucket of HASH.  A probe begins there.  HASH is taken for a fraction of
 * the range, so its upper bits decide.  64-bit processors have one instruction for it. */
LEAKWRAP_INLINE size_t leakwrap_hash_table_bucket(const struct leakwrap_hash_table *table,
                                                  uint64_t hash)
{
#ifdef __SIZEOF_INT128__
	return (size_t)((unsigned __int128)hash * table->range >> 64);
#else
	return (size_t)((hash >> 32) * table->range >> 32);
#endif
}

/* Reserves an empty entry for a key with this HASH and counts it as used.  The caller writes the
 * entry.  Replaces *TABLE with a larger table if it is too small.  The entry is in the new *TABLE.
 * Returns NULL if there is no memory for a larger table. */
void *leakwrap_hash_table_reserve(struct leakwrap_hash_table *_Atomic *table,
                                  const struct leakwrap_hash_table_kind *kind, uint64_t hash);

/* Returns whether TABLE has room for another entry.  Signal-safe. */
bool leakwrap_hash_table_has_room(const struct leakwrap_hash_table *table,
                                  const struct leakwrap_hash_table_kind *kind);

/* Tables that were replaced, and may still be read. */
#define LEAKWRAP_REPLACED_TABLES 32
struct leakwrap_replaced_tables {
	unsigned count;
	struct {
		void *table;
		size_t size; /* in bytes */
	} at[LEAKWRAP_REPLACED_TABLES];
};

/* Replaces *TABLE by a larger table, and adds the old one to REPLACED.  A reader of it finds the
 * old entries or none.  Returns false if there is no memory. */
bool leakwrap_hash_table_grow(struct leakwrap_hash_table *_Atomic *table,
                              const struct leakwrap_hash_table_kind *kind,
                              struct leakwrap_replaced_tables *replaced);

/* Adds TABLE, which has been copied, to REPLACED.  A reader of it finds the old entries.  Call it
 * once at most before REPLACED is freed: leakwrap_hash_table_grow leaves one place. */
void leakwrap_hash_table_retire(const struct leakwrap_hash_table *table,
                                const struct leakwrap_hash_table_kind *kind,
                                struct leakwrap_replaced_tables *replaced);

/* Gives the memory of all tables of REPLACED back.  Nobody may read them any more (readers.h). */
void leakwrap_replaced_tables_free(struct leakwrap_replaced_tables *replaced);

/* Makes a table with those entries of FROM for which KEEP returns true, and with room for MORE
 * entries.  Returns NULL if there is no memory. */
struct leakwrap_hash_table *leakwrap_hash_table_copy(const struct leakwrap_hash_table *from,
                                                     const struct leakwrap_hash_table_kind *kind,
                                                     bool (*keep)(const void *entry),
                                                     uint32_t more);

/* Discards the memory of TABLE, which has been replaced.  A reader of TABLE finds the old entries
 * or none. */
void leakwrap_hash_table_discard(struct leakwrap_hash_table *table,
                                 const struct leakwrap_hash_table_kind *kind);

#endif
