/* hashed_keys.c - holds items as Vim's hash tables do, by pointers to their keys behind the hashes
 * of these.  One key has another hash, and one is empty. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { KEPT = 100, OTHERS = 2 };

/* Like dictitem_T of Vim (src/structs.h). */
struct item {
	long value[2];
	char flags, key[20];
};

static volatile struct {
	unsigned long hash;
	char *key;
} table[KEPT + OTHERS];

static unsigned long hash_of(const char *key)
{
	unsigned long hash = 0;

	while (*key)
		hash = hash * 101 + (unsigned char)*key++;
	return hash;
}

static NOINLINE void add_items(void)
{
	for (int i = 0; i < KEPT + OTHERS; i++) {
		struct item *const item = calloc(1, sizeof(*item));

		if (i < KEPT + 1)
			snprintf(item->key, sizeof(item->key), "%s %d",
			         i % 2 ? "longer key" : "key", i * i);
		table[i].hash = hash_of(item->key) + (i == KEPT);
		table[i].key = item->key;
	}
}

int main(void)
{
	add_items();
	clear_stack();
	return raise(SIGUSR1);
}
