/* hashed.h - tables that are read without a lock: for call sites, of which there may be very many, and which the allocation path
 * looks up.
 *
 * Open addressing, and never full: whoever looks goes from the entry that a key chooses to the first empty one.  An entry is written
 * once.  A table that has become too small is replaced, and stays for those who are reading it: they may find it empty.
 *
 * Reading is signal-safe.  The rest is called with the tables' lock held.
 */
#ifndef LEAKWRAP_HASHED_H
#define LEAKWRAP_HASHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"

struct leakwrap_hashed {
	uint32_t range; /* keys choose among so many entries; all zeros: among one, which is empty */
	uint32_t size;  /* of all; the last one stays empty */
	uint32_t count; /* of those that are used */
	_Alignas(uintptr_t) char entries[]; /* zeros where they are empty */
};

/* What the entries of a table are. */
struct leakwrap_hashed_kind {
	size_t size; /* of one, in bytes */
	bool (*is_used)(const void *entry);
	/* The key of one that is used, or a key with the same upper part.  CONTEXT is what the table belongs to. */
	uintptr_t (*key)(const void *entry, const void *context);
};

#define LEAKWRAP_HASHED_FACTOR ((uintptr_t)0xff51afd7ed558ccdu)

/* The key that follows from SUM, of products.  Return addresses are as far apart as the calls of a loop that was unrolled: their
 * sums alone would gather in some places. */
LEAKWRAP_INLINE uintptr_t leakwrap_hashed_key(uintptr_t sum)
{
	return (sum ^ sum >> sizeof(sum) * 4) * LEAKWRAP_HASHED_FACTOR;
}

/* The part of KEY that chooses an entry. */
LEAKWRAP_INLINE uint32_t leakwrap_hashed_upper(uintptr_t key)
{
	return (uint32_t)(key >> (sizeof(key) * 8 - 32));
}

/* A key with that part. */
LEAKWRAP_INLINE uintptr_t leakwrap_hashed_key_of_upper(uint32_t upper)
{
	return (uintptr_t)upper << (sizeof(uintptr_t) * 8 - 32);
}

/* The entry that KEY chooses. */
LEAKWRAP_INLINE size_t leakwrap_hashed_chosen(const struct leakwrap_hashed *table, uintptr_t key)
{
	return (size_t)((uint64_t)leakwrap_hashed_upper(key) * table->range >> 32);
}

/* An empty table for COUNT entries and some more; or NULL when there is no memory. */
struct leakwrap_hashed *leakwrap_hashed_make(const struct leakwrap_hashed_kind *kind, uint32_t count);

/* An empty entry for KEY, which is counted as used from now on: the caller writes it.  It is in the table that *TABLE, perhaps still
 * NULL, points to then: a larger one when that was too small.  NULL when there is no memory. */
void *leakwrap_hashed_room(struct leakwrap_hashed *_Atomic *table,
                           const struct leakwrap_hashed_kind *kind, const void *context, uintptr_t key);

/* Calls VISIT for each entry of TABLE that is used, as long as it returns true.  Returns whether it always did. */
bool leakwrap_hashed_each(const struct leakwrap_hashed *table, const struct leakwrap_hashed_kind *kind,
                          bool (*visit)(const void *entry, void *context), void *context);

/* TABLE is not needed any more.  Whoever is still reading it finds what was there, or nothing. */
void leakwrap_hashed_discard(struct leakwrap_hashed *table, const struct leakwrap_hashed_kind *kind);

#endif
