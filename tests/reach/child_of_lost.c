/* child_of_lost.c - a forked child hangs blocks below a block that its parent has lost before, and
 * loses a block to which a lost block of its own leads. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/clear_stack.h"

struct node {
	struct node *volatile next;
	char room[56];
};

static NOINLINE struct node *node(struct node *next)
{
	struct node *const made = calloc(1, sizeof(*made));

	made->next = next;
	return made;
}

/* The address of the parent's block, which no pointer holds. */
static volatile uintptr_t hidden;

static NOINLINE void lose_in_parent(void)
{
	hidden = ~(uintptr_t)node(node(NULL));
}

static NOINLINE void lose_in_child(void)
{
	((struct node *)~hidden)->next->next = node(NULL);
	hidden = ~(uintptr_t)node(node(NULL));
}

int main(void)
{
	lose_in_parent();
	clear_stack();
	if (fork() != 0)
		_exit(wait(NULL) > 0 ? 0 : 1);
	lose_in_child();
	clear_stack();
	return 0;
}
