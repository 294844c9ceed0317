/* table.h - hash tables, and interned strings. */
#ifndef TOOLS_BASE_TABLE_H
#define TOOLS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/base/memory.h"

/* A set of entries, which it does not own.  A hash and a comparison find an entry. */
struct table {
	struct table_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t used;
};

typedef bool table_equal(const void *key, const void *entry);

/* Returns the entry that EQUAL accepts for KEY, or NULL. */
void *table_find(const struct table *table, uint64_t hash, const void *key, table_equal *equal);

/* Adds ENTRY, which TABLE must not have yet. */
void table_add(struct table *table, uint64_t hash, void *entry);
void table_free(struct table *table);

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);
uint64_t hash_word(uint64_t seed, uint64_t word);

/* Strings, kept in an arena: equal ones have one address. */
struct strings {
	struct arena *arena;
	struct table table;
};
/* Returns the string that equals the first LENGTH bytes of TEXT.  Adds it if it is new. */
const char *intern(struct strings *strings, const char *text, size_t length);

/* Returns the string that equals TEXT, or NULL for NULL. */
const char *intern_text(struct strings *strings, const char *text);

#endif
