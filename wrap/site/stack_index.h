/* stack_index.h - the stacks that were walked, by the sums of their words: to which call site each leads.
 *
 * An entry has a stack's key (stack_shape.h), of 64 bits, and not its words.  A stack that was never walked is taken for another one when the
 * two have the same key, by a chance of one in 2^64 for each pair.
 */
#ifndef LEAKWRAP_STACK_INDEX_H
#define LEAKWRAP_STACK_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wrap/base/common.h"
#include "wrap/base/hash_table.h"
#include "wrap/live/live.h"

/* An entry of the table.  VALUE is what the slot of a block of 0 bytes says that was allocated there (live.h); 0: an empty entry. */
struct leakwrap_stack_entry {
	_Atomic uint32_t half; /* of the key: the one that is first in memory */
	uint32_t other;
	_Atomic uint32_t value;
};

extern LEAKWRAP_HIDDEN struct leakwrap_hash_table *_Atomic leakwrap_stack_index;

/* The half of KEY that its entry begins with. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_key_lo(uint64_t key)
{
	uint32_t half;

	memcpy(&half, &key, sizeof(half));
	return half;
}

/* The key of ENTRY, which is not empty. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_entry_key(const struct leakwrap_stack_entry *entry)
{
	uint64_t key;

	memcpy(&key, entry, sizeof(key));
	return key;
}

/* The value of the call site to which a stack with KEY leads, or 0.  Signal-safe, no lock. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_index_find(uint64_t key)
{
	const struct leakwrap_hash_table *table =
	        atomic_load_explicit(&leakwrap_stack_index, memory_order_acquire);
	const struct leakwrap_stack_entry *entry = leakwrap_hash_table_entries(table), *next;
	uint32_t value;

	/* Without a branch: where a key collides with another one, no processor could predict which entry has it, and this is the end of
	 * a long chain of instructions. */
	entry += leakwrap_hash_table_bucket(table, leakwrap_hash_of_key(key));
	next = entry + 1;
	LEAKWRAP_HIDE_VALUE(next);
	entry = leakwrap_unpredictable(atomic_load_explicit(&entry->half, memory_order_relaxed) ==
	                               leakwrap_stack_key_lo(key))
	                ? entry
	                : next;
	value = atomic_load_explicit(&entry->value, memory_order_acquire);
	while (leakwrap_likely(value != 0) &&
	       leakwrap_unlikely(leakwrap_stack_entry_key(entry) != key)) {
		entry++;
		value = atomic_load_explicit(&entry->value, memory_order_acquire);
	}
	return value;
}

/* Adds that a stack with KEY leads to the call site NUMBER.  False when that is known, or there is no memory.  The tables' lock is held. */
bool leakwrap_stack_index_add(uint64_t key, uint32_t number);

/* Forgets all stacks: each is walked again when it comes.  The tables' lock is held. */
void leakwrap_seen_forget(void);

#endif
