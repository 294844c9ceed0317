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

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/base/hash_table.h"

/* An entry of the table.  It has no member of 64 bits, which would make it larger. */
struct leakwrap_stack_entry {
	_Atomic uint32_t key_lo; /* the key's first four bytes in memory */
	uint32_t key_hi;         /* the last four */
	_Atomic uint32_t value;  /* the slot value (slot.h) of a block of 0 bytes; 0: empty */
};

extern LEAKWRAP_HIDDEN struct leakwrap_hash_table *_Atomic leakwrap_stack_index;

/* Returns the key of ENTRY, which is not empty. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_entry_key(const struct leakwrap_stack_entry *entry)
{
	uint64_t key;

	memcpy(&key, entry, sizeof(key));
	return key;
}

/* Returns whether half of the key of ENTRY is half of KEY. */
LEAKWRAP_INLINE bool leakwrap_stack_entry_may_have(const struct leakwrap_stack_entry *entry,
                                                   uint64_t key)
{
	uint32_t half;

	memcpy(&half, &key, sizeof(half));
	return LEAKWRAP_LOAD_OPERAND(uint32_t, &entry->key_lo, memory_order_relaxed) == half;
}

/* Returns the value of *ENTRY.  What is read through *ENTRY then is not older. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_entry_value(const struct leakwrap_stack_entry **entry)
{
	const uint32_t value = atomic_load_explicit(&(*entry)->value, LEAKWRAP_ORDER);

	LEAKWRAP_ORDER_BY(*entry, value);
	return value;
}

/* Finds the call site of a stack with KEY.  Returns its slot value (struct leakwrap_stack_entry),
 * or 0 if KEY is not in the table.  Signal-safe, takes no lock. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_index_find(uint64_t key)
{
	const struct leakwrap_stack_entry *entry, *next;
	const struct leakwrap_hash_table *table;
	uint32_t value;

	LEAKWRAP_LOAD_POINTER(table, &leakwrap_stack_index);
	entry = leakwrap_hash_table_entries(table);
	entry += leakwrap_hash_table_bucket(table, key);
	LEAKWRAP_KEEP_SUM(entry);

	/* Select the first or second entry without a branch.  If two keys collide, no processor can
	 * predict which entry matches, and a long chain of dependent instructions ends here. */
	next = entry + 1;
	LEAKWRAP_HIDE_VALUE(next);
	entry = leakwrap_unpredictable(leakwrap_stack_entry_may_have(entry, key)) ? entry : next;
	value = leakwrap_stack_entry_value(&entry);
	while (leakwrap_likely(value != 0) &&
	       leakwrap_unlikely(leakwrap_stack_entry_key(entry) != key)) {
		LEAKWRAP_HIDE_VALUE(entry); /* else the sum is computed before the loop */
		entry++;
		value = leakwrap_stack_entry_value(&entry);
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
