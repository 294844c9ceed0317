/* seen.h - the stacks that were walked, by the sums of their words: to which call site each leads.
 *
 * An entry has a stack's key (pattern.h), of 64 bits, and not its words.  A stack that was never walked is taken for another one when the
 * two have the same key, by a chance of one in 2^64 for each pair.
 */
#ifndef LEAKWRAP_SEEN_H
#define LEAKWRAP_SEEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common.h"
#include "hashed.h"
#include "sites.h"

/* An entry of the table; LEAKWRAP_SITE_NONE: none. */
struct leakwrap_seen {
	uint32_t key[2];
	_Atomic uint32_t number;
};

extern LEAKWRAP_HIDDEN struct leakwrap_hashed *_Atomic leakwrap_seen_table;

LEAKWRAP_INLINE uint64_t leakwrap_seen_key(const struct leakwrap_seen *entry)
{
	uint64_t key;

	memcpy(&key, entry->key, sizeof(key));
	return key;
}

/* The number of the call site to which a stack with KEY leads, or LEAKWRAP_SITE_NONE.  Signal-safe, no lock. */
LEAKWRAP_INLINE uint32_t leakwrap_seen_number(uint64_t key)
{
	const struct leakwrap_hashed *table =
	        atomic_load_explicit(&leakwrap_seen_table, memory_order_acquire);
	const struct leakwrap_seen *entry = leakwrap_hashed_entries(table);
	uint32_t number;

	entry += leakwrap_hashed_chosen(table, leakwrap_hashed_choice(key));
	number = atomic_load_explicit(&entry->number, memory_order_acquire);
	while (leakwrap_unlikely(number != LEAKWRAP_SITE_NONE && leakwrap_seen_key(entry) != key)) {
		entry++;
		number = atomic_load_explicit(&entry->number, memory_order_acquire);
	}
	return number;
}

/* Adds that a stack with KEY leads to the call site NUMBER.  False when that is known, or there is no memory.  The tables' lock is held. */
bool leakwrap_seen_add(uint64_t key, uint32_t number);

#endif
