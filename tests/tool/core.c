/* core.c - makes a list, a possibly lost block, and the shapes of tests/reach/shapes.c, writes a
 * dump, and aborts: so that a core file of the same moment can be had. */
#define main make_shapes
#include "../reach/shapes.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include "leakwrap.h"

static struct node *volatile elements;
static void *volatile left, *volatile right;

/* Makes a list of 100 elements. */
static __attribute__((noinline)) void make_list(void)
{
	for (unsigned i = 0; i < 100; i++)
		elements = new_node(elements, NULL);
}

/* Makes a block that only a pointer to its end leads to. */
static __attribute__((noinline)) void make_secret(void)
{
	inner[15] = malloc(23);
	memcpy(inner[15], "open sesame, and so on", 23);
	inner[15] += 5;
}

/* Makes two blocks at one call site, that two variables lead to. */
static __attribute__((noinline)) void make_two_ways(void)
{
	void *volatile *const places[] = {&left, &right};

	for (volatile unsigned i = 0; i < 2; i++) /* no unrolled loop */
		*places[i] = malloc(8);
}

int main(int argc, char **argv)
{
	make_list();
	make_secret();
	make_two_ways();
	make_shapes(argc, argv);
	leakwrap_dump(-1);
	abort();
}
