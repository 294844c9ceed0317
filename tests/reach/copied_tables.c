/* copied_tables.c - objects with two vtables, which the loader copies among the variables of a
 * program that is not position-independent.  Pointers to their second part alone hold them. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { OBJECTS = 20, TABLES = 100000, FIRST = 70000, SECOND = 70004 };

struct object {
	void *const *table, *number;
	void *const *second, *other;
};

static void *tables[TABLES];
static void *const *volatile *volatile held[OBJECTS];

static void call(void)
{
}

static NOINLINE void make(void)
{
	for (int i = 0; i < OBJECTS; i++) {
		struct object *const object = calloc(1, sizeof(*object));

		object->table = &tables[FIRST];
		object->second = &tables[SECOND];
		held[i] = &object->second;
	}
}

int main(void)
{
	tables[FIRST] = tables[SECOND] = (void *)call;
	make();
	clear_stack();
	return raise(SIGUSR1);
}
