/* table.c - see table.h. */
#include "tools/base/table.h"

#include <stdlib.h>
#include <string.h>

struct table_slot {
	uint64_t hash;
	void *entry;
};

static struct table_slot *free_slot(const struct table *table, uint64_t hash)
{
	size_t at = (size_t)hash & (table->size - 1);
	while (table->slots[at].entry)
		at = (at + 1) & (table->size - 1);
	return &table->slots[at];
}

void *table_find(const struct table *table, uint64_t hash, const void *key, table_equal *equal)
{
	if (table->size == 0)
		return NULL;
	for (size_t at = (size_t)hash & (table->size - 1); table->slots[at].entry;
	     at = (at + 1) & (table->size - 1))
		if (table->slots[at].hash == hash && equal(key, table->slots[at].entry))
			return table->slots[at].entry;
	return NULL;
}

void table_add(struct table *table, uint64_t hash, void *entry)
{
	if (table->used >= table->size / 2) {
		struct table bigger = {.size = table->size ? 2 * table->size : 64,
		                       .used = table->used};
		bigger.slots = xzalloc(bigger.size * sizeof *bigger.slots);
		for (size_t i = 0; i < table->size; i++)
			if (table->slots[i].entry)
				*free_slot(&bigger, table->slots[i].hash) = table->slots[i];
		free(table->slots);
		*table = bigger;
	}
	*free_slot(table, hash) = (struct table_slot){hash, entry};
	table->used++;
}

void table_free(struct table *table)
{
	free(table->slots);
	*table = (struct table){0};
}

uint64_t hash_word(uint64_t seed, uint64_t word)
{
	/* The finalizer of splitmix64, whose constants are in the public domain. */
	uint64_t x = seed + word + UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	uint64_t hash = hash_word(seed, size);
	for (; size >= sizeof hash; p += sizeof hash, size -= sizeof hash) {
		uint64_t word;
		memcpy(&word, p, sizeof word);
		hash = hash_word(hash, word);
	}
	uint64_t rest = 0;
	memcpy(&rest, p, size);
	return hash_word(hash, rest);
}

struct span {
	const char *text;
	size_t length;
};

static bool same_text(const void *key, const void *entry)
{
	const struct span *span = key;
	const char *text = entry;
	return strncmp(text, span->text, span->length) == 0 && text[span->length] == '\0';
}

const char *intern(struct strings *strings, const char *text, size_t length)
{
	struct span span = {text, strnlen(text, length)};
	uint64_t hash = hash_bytes(0, span.text, span.length);
	char *found = table_find(&strings->table, hash, &span, same_text);
	if (!found) {
		found = arena_copy(strings->arena, span.text, span.length);
		table_add(&strings->table, hash, found);
	}
	return found;
}

const char *intern_text(struct strings *strings, const char *text)
{
	return text ? intern(strings, text, strlen(text)) : NULL;
}
