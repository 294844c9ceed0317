/* vlc_objects.c - holds objects as VLC does: the program has a pointer to the root object, behind
 * its private part, from which links lead to the private parts of the others.  Other pointers lead
 * behind parts that are none: one has no child, of one the child has another parent, and one object
 * does not begin with the name of its type.  The two children are possibly lost, too. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { CHILDREN = 50, OTHERS = 3 };

/* Like struct vlc_object_internals of VLC 3.0 (src/misc/variables.h). */
struct private_part {
	char *name;
	void *variables;
	pthread_mutex_t lock;
	pthread_cond_t wait;
	unsigned owners;
	void (*destructor)(void *);
	struct private_part *next, *previous, *first;
	pthread_mutex_t tree_lock;
	void *resources;
} __attribute__((aligned(2 * sizeof(void *))));

/* Like vlc_object_t (include/vlc_common.h). */
struct object {
	const char *type;
	char *header;
	int flags, is_forced;
	struct object *library, *parent;
};

static struct object *volatile root, *volatile others[OTHERS];

static NOINLINE struct object *add(struct object *parent, const char *type)
{
	struct private_part *const made = calloc(1, sizeof(*made) + sizeof(struct object));
	struct object *const object = (struct object *)(made + 1);

	object->type = type;
	object->parent = parent;
	if (parent) {
		struct private_part *const above = (struct private_part *)parent - 1;

		made->next = above->first;
		above->first = made;
		if (made->next)
			made->next->previous = made;
	}
	/* cppcheck-suppress memleak ; the caller gets the object */
	return object;
}

static NOINLINE void make_others(void)
{
	others[0] = add(NULL, "without a child");
	others[1] = add(NULL, "with another's child");
	add(others[1], "child")->parent = NULL;
	others[2] = add(NULL, NULL);
	add(others[2], "child")->parent = others[2];
}

int main(void)
{
	root = add(NULL, "root");
	for (int i = 0; i < CHILDREN; i++)
		add(add(root, "child"), "grandchild");
	make_others();
	clear_stack();
	return raise(SIGUSR1);
}
