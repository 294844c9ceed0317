/* kinds.c ROUNDS - each round loses a list of 5 nodes of 32 bytes, keeps 1000 bytes reachable, and
 * asks for a dump by signal. Each second round keeps 60 bytes by a pointer into them. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

struct node {
	struct node *volatile next;
	char room[32 - sizeof(void *)];
};

static void *volatile cache[100];
static char *volatile inner[100];

__attribute__((noinline)) static struct node *make_node(struct node *next)
{
	struct node *node = malloc(sizeof *node);

	node->next = next;
	return node;
}

__attribute__((noinline)) static void lose_list(void)
{
	struct node *volatile list = NULL;

	for (volatile int i = 0; i < 4; i++) /* one call, not four */
		list = make_node(list);
	struct node *head = malloc(sizeof *head);
	head->next = list;
	list = NULL;
}

__attribute__((noinline)) static void fill_cache(int round)
{
	cache[round] = malloc(1000);
}

__attribute__((noinline)) static void keep_inner(int round)
{
	char *block = malloc(60);

	inner[round] = block + 8;
	/* cppcheck-suppress memleak ; on purpose */
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 0; i < rounds; i++) {
		fill_cache(i);
		lose_list();
		if (i % 2)
			keep_inner(i);
		clear_stack();
		raise(SIGUSR1);
	}
	return 0;
}
