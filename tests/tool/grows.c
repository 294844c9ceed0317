/* grows.c - a program that runs until it is killed, and keeps ARGV[1] more bytes ten times a
 * second. It says "ready" when its first block is there. ARGV[2]: two to the power of so many call
 * sites keep a block each.
 */
#include <stdlib.h>
#include <unistd.h>

struct block {
	struct block *next;
};

static struct block *volatile kept;

__attribute__((noinline)) void keep_growing(size_t size)
{
	struct block *block = malloc(size);

	if (!block)
		abort();
	block->next = kept;
	kept = block;
}

__attribute__((noinline)) void keep_steady(void)
{
	static void *volatile steady;

	steady = malloc(5000);
	if (!steady)
		abort();
}

static void keep_by_paths(int levels)
{
	if (levels == 0) {
		keep_growing(sizeof(struct block));
		return;
	}
	keep_by_paths(levels - 1);
	keep_by_paths(levels - 1);
	__asm__ volatile(""); /* the call is no jump */
}

int main(int argc, char **argv)
{
	keep_steady();
	keep_growing(1000);
	if (argc > 2)
		keep_by_paths(atoi(argv[2]));
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (;;) {
		usleep(100000);
		if (argc > 1)
			keep_growing((size_t)atol(argv[1]));
	}
}
