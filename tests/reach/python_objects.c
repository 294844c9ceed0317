/* python_objects.c - keeps objects as CPython does, each in a block of its own, and the like. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/reach/python_types.h"

enum { KEPT = 50, LOST = 3 };

static const struct type abstract = {{1, &types, 0}, "ABCMeta"};
static const struct type number = {{1, &abstract, 0}, "Number"};
/* It is its own type, but not that of types. */
static const struct type other = {{1, &other, 0}, "typed"};

static struct object *volatile kept[3 * KEPT];
static struct object *volatile others[3];

/* Returns an object of TYPE behind so many WORDS of a new block. */
static struct object *make(const struct type *type, unsigned words)
{
	void **const block = calloc(words + 4, sizeof(*block));
	struct object *const object = (struct object *)(void *)(block + words);

	object->references = 1;
	object->type = type;
	/* cppcheck-suppress memleak ; on purpose */
	return object;
}

static NOINLINE void make_all(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		kept[3 * i] = make(&number, 2);
		kept[3 * i + 1] = make(&abstract, 4);
		kept[3 * i + 2] = make(&types, 2);
	}
	others[0] = make(&other, 2);
	others[1] = make(NULL, 4);
	others[2] = make(&number, 3);
	for (unsigned i = 0; i < LOST; i++)
		make(&number, 2)->references = 0;
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
