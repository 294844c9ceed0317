/* hashed_keys.c - holds items as Vim's hash tables do, by pointers to their keys behind the hashes
 * of these.  One key has another hash, and one is empty.  One pointer leads to a number, behind the
 * same number. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { KEPT = 100, OTHERS = 3, NUMBER = 7 };

/* Like dictitem_T of Vim (src/structs.h). */
struct item {
	long value[2];
	char flags, key[20]; /* not aligned */
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

static void add_number(void)
{
	struct item *const item = calloc(1, sizeof(*item));

	item->value[1] = NUMBER;
	table[KEPT + OTHERS - 1].hash = NUMBER;
	table[KEPT + OTHERS - 1].key = (char *)&item->value[1];
} /* cppcheck-suppress memleak ; the table holds it */

static NOINLINE void add_items(void)
{
	for (int i = 0; i < KEPT + OTHERS - 1; i++) {
		struct item *const item = calloc(1, sizeof(*item));

		if (i < KEPT + 1)
			snprintf(item->key, sizeof(item->key), "%s %d",
			         i % 2 ? "longer key" : "key", i * i);
		table[i].hash = hash_of(item->key) + (i == KEPT);
		table[i].key = item->key;
	}
	add_number();
}

int main(void)
{
	add_items();
	clear_stack();
	return raise(SIGUSR1);
}
