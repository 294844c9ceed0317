/* stack_index.h - a hash table from the key of a stack that was walked to its call site.
 *
 * A key (stack_shape.h) is a hash of 64 bits; an entry does not store the stack's words.  Two
 * stacks have equal keys by a chance of one in 2^64.  If they do, the second stack is mistaken for
 * the first.
 */
#ifndef LEAKWRAP_STACK_INDEX_H
#define LEAKWRAP_STACK_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wrap/base/common.h"
#include "wrap/base/hash_table.h"

/* An entry of the table.  The key lies in key_lo and key_hi, in the byte order of a uint64_t. */
struct leakwrap_stack_entry {
	_Atomic uint32_t key_lo; /* the first four bytes of the key in memory */
	uint32_t key_hi;         /* the last four */
	_Atomic uint32_t value;  /* the slot value (slot.h) of a block of 0 bytes; 0: empty */
};

extern LEAKWRAP_HIDDEN struct leakwrap_hash_table *_Atomic leakwrap_stack_index;

/* Returns the member key_lo of an entry for KEY. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_key_lo(uint64_t key)
{
	uint32_t key_lo;

	memcpy(&key_lo, &key, sizeof(key_lo));
	return key_lo;
}

/* Returns the key of ENTRY, which is not empty. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_entry_key(const struct leakwrap_stack_entry *entry)
{
	uint64_t key;

	memcpy(&key, entry, sizeof(key));
	return key;
}

/* Finds the call site of a stack with KEY.  Returns its slot value (struct leakwrap_stack_entry),
 * or 0 if KEY is not in the table.  Signal-safe, takes no lock. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_index_find(uint64_t key)
{
	const struct leakwrap_hash_table *table =
	        atomic_load_explicit(&leakwrap_stack_index, memory_order_acquire);
	const struct leakwrap_stack_entry *entry = leakwrap_hash_table_entries(table), *next;
	uint32_t value;

	/* Select the first or second entry without a branch.  If two keys collide, no processor can
	 * predict which entry matches, and a long chain of dependent instructions ends here. */
	entry += leakwrap_hash_table_bucket(table, leakwrap_hash_of_key(key));
	next = entry + 1;
	LEAKWRAP_HIDE_VALUE(next);
	entry = leakwrap_unpredictable(atomic_load_explicit(&entry->key_lo, memory_order_relaxed) ==
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

/* Adds KEY with the call site NUMBER.  Returns false and changes nothing if KEY is in the table or
 * if there is no memory.  The caller holds the tables' lock. */
bool leakwrap_stack_index_add(uint64_t key, uint32_t number);

/* Returns the number of keys. */
uint32_t leakwrap_stack_index_count(void);

/* Removes the keys of the call sites for which IS_KEPT returns false.  The caller holds the tables'
 * lock. */
void leakwrap_stack_index_keep(bool (*is_kept)(uint32_t number));

/* Removes all keys: each stack is walked again at its next allocation.  The caller holds the
 * tables' lock. */
void leakwrap_stack_index_clear(void);

#endif
