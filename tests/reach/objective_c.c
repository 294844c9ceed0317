/* objective_c.c - holds objects as GNUstep does: behind the number of their owners.  Similar blocks
 * are no objects. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 50, LOST = 3, OTHERS = 4 };

/* The start of a class (gcc, libobjc/objc-private/module-abi-8.h, struct objc_class). */
struct class
{
	struct class *class, *above;
	const char *name;
};

struct object {
	struct class *class;
	void *held;
};

/* An object with what is in front of it (GNUstep Base, Source/NSObject.m, struct obj_layout). */
struct owned {
	long aligned, owners;
	struct object object;
};

/* As above, but farther behind the start of the block. */
struct far {
	long before[5];
	struct object object;
};

static struct class root, root_meta = {&root_meta, &root, "Object"};
static struct class root = {&root_meta, NULL, "Object"};
static struct class meta = {&root_meta, &root_meta, "Node"}, node = {&meta, &root, "Node"};

/* Without a root class, and with one that has a class above it. */
static struct class rootless = {&rootless, NULL, "no root"}, other_meta = {&rootless, NULL, "it"};
static struct class rootless_node = {&other_meta, NULL, "Node"};
static struct class false_root, false_meta = {&false_meta, &false_root, "false"};
static struct class false_root = {&false_meta, &node, "false"};

static struct object *volatile kept[KEPT];
static struct object *volatile others[OTHERS];

static struct object *make(struct class *class)
{
	struct owned *const block = calloc(1, sizeof(*block));

	block->aligned = -1; /* a zero is the number of elements of glibc's smallest vector */
	block->object.class = class;
	return &block->object;
}

static NOINLINE void make_all(void)
{
	struct far *const far = calloc(1, sizeof(*far));

	for (int i = 0; i < KEPT; i++) {
		kept[i] = make(&node);
		kept[i]->held = malloc(1);
	}
	far->object.class = &node;
	others[0] = &far->object;
	others[1] = make(NULL);
	others[2] = make(&rootless_node);
	others[3] = make(&false_root);
	for (int i = 0; i < LOST; i++)
		make(&node)->held = NULL;
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
