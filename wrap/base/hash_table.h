/* hash_table.h - tables that are read without a lock: for call sites, of which there may be very many, and which the allocation path
 * looks up.
 *
 * Open addressing, and never full: whoever looks goes from the entry that a key chooses to the first empty one.  An entry is written
 * once.  A table that has become too small is replaced, and stays for those who are reading it: they may find it empty.
 *
 * Reading is signal-safe.  The rest is called with the tables' lock held.
 */
#ifndef LEAKWRAP_HASH_TABLE_H
#define LEAKWRAP_HASH_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

/* A table.  Its entries stand behind it: zeros where they are empty. */
struct leakwrap_hash_table {
	_Alignas(uint64_t) uint32_t range; /* keys choose among so many entries */
	uint32_t size;                     /* of all; the last one stays empty */
	uint32_t count;                    /* of those that are used */
};

/* The first one of each kind: there is one entry to choose, and that stays empty, as does the next. */
extern LEAKWRAP_HIDDEN struct leakwrap_hash_table_empty {
	struct leakwrap_hash_table table;
	uint64_t entry[3];
} leakwrap_hash_table_empty;

/* What the entries of a table are. */
struct leakwrap_hash_table_kind {
	size_t size; /* of one, in bytes: no more than half of what leakwrap_hash_table_empty has */
	uint32_t quarters; /* of thousands: keys choose among so many for four */
	bool (*is_used)(const void *entry);
	uint32_t (*choice)(const void *entry); /* of one that is used: of its key */
};

/* The part of KEY that chooses an entry. */
LEAKWRAP_INLINE uint32_t leakwrap_hash_of_key(uint64_t key)
{
	return (uint32_t)(key >> 32);
}

LEAKWRAP_INLINE const void *leakwrap_hash_table_entries(const struct leakwrap_hash_table *table)
{
	return table + 1;
}

/* The number of the entry that CHOICE leads to. */
LEAKWRAP_INLINE size_t leakwrap_hash_table_bucket(const struct leakwrap_hash_table *table,
                                                  uint32_t choice)
{
	return (size_t)((uint64_t)choice * table->range >> 32);
}

/* An empty entry for CHOICE, which is counted as used from now on: the caller writes it.  It is in the table that *TABLE points to then:
 * a larger one when that was too small.  When there is no memory for that, NULL; FROM_RESERVE: what room there is, as long as there is
 * some. */
void *leakwrap_hash_table_reserve(struct leakwrap_hash_table *_Atomic *table,
                                  const struct leakwrap_hash_table_kind *kind, uint32_t choice,
                                  bool from_reserve);

/* TABLE is not needed any more.  Whoever is still reading it finds what was there, or nothing. */
void leakwrap_hash_table_discard(struct leakwrap_hash_table *table,
                                 const struct leakwrap_hash_table_kind *kind);

#endif
