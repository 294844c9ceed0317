/* leaky.c ROUNDS [each] - leaks on purpose, by the functions of chain.c, more in each round. With
 * "each" it asks for a dump by signal after each round. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void *volatile kept;

static inline __attribute__((always_inline)) void keep_inlined(size_t size)
{
	kept = malloc(size);
}

__attribute__((noinline)) void make_basket(size_t size)
{
	keep_inlined(size + 1);
	kept = NULL;
}

__attribute__((noinline)) void open_shop(size_t size)
{
	make_basket(2 * size);
	kept = malloc(size);
	kept = NULL;
}

__attribute__((noinline)) void fill_cache(int round)
{
	if (round < 2)
		kept = calloc(10, 400);
	kept = NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 0; i < rounds; i++) {
		open_shop(100);
		fill_cache(i);
		if (argc > 2)
			raise(SIGUSR1);
	}
	return 0;
}
