/* pascal_interfaces.c - holds objects as Free Pascal does, by an interface: the address of a part
 * that begins with the address of the interface's functions.  Similar blocks are no such objects.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 20, LOST = 3, OTHERS = 5 };

/* The head of a class (rtl/inc/objpash.inc, TVmt). */
struct class
{
	intptr_t size, negative_size;
	const struct class *parent;
};

struct object {
	const struct class *class;
	intptr_t owners, number;
	void (*const *interface)(void);
};

static void do_nothing(void)
{
}

static void (*const functions[])(void) = {do_nothing, do_nothing};
static const struct class class = {sizeof(struct object), -(intptr_t)sizeof(struct object), NULL};
static const struct class larger = {sizeof(struct object) + 8, -(intptr_t)sizeof(struct object) - 8,
                                    NULL};
static const struct class positive = {sizeof(struct object), sizeof(struct object), NULL};
static void *volatile kept[2 * KEPT];
static void *volatile others[OTHERS];

/* Makes an object in a block that begins with the length of the rest, if it HAS_LENGTH. */
static struct object *make_object(const struct class *of, int has_length)
{
	intptr_t *const block = calloc(1, sizeof(intptr_t) + sizeof(struct object));
	struct object *object;

	if (has_length) {
		block[0] = sizeof(struct object);
		object = (struct object *)(block + 1);
	} else {
		free(block);
		object = calloc(1, sizeof(struct object));
	}
	object->class = of;
	object->owners = 1;
	object->interface = functions;
	return object; /* cppcheck-suppress memleak ; the block is kept by its object */
}

static NOINLINE void make_all(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		kept[2 * i] = &make_object(&class, 1)->interface;
		kept[2 * i + 1] = &make_object(&class, 0)->interface;
	}
	others[0] = &make_object(&larger, 1)->interface;
	others[1] = &make_object(&positive, 1)->interface;
	others[2] = (char *)&make_object(&class, 1)->interface + 1;
	others[3] = &make_object(NULL, 1)->interface;
	others[4] = &make_object(&larger, 0)->interface;
	for (int i = 0; i < LOST; i++)
		make_object(&class, 1)->number = 1;
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
