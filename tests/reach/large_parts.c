/* large_parts.c SIZE COUNT - keeps COUNT parts of SIZE bytes of a pool.  A pointer in the pool's
 * free memory counts for nothing. */
#include <stdlib.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"

static char *volatile pool;
static char *volatile kept[100];

static NOINLINE void lose(void **free_memory)
{
	*free_memory = malloc(24);
}

int main(int count, char **argument)
{
	const size_t size = count > 2 ? strtoul(argument[1], NULL, 10) : 0;
	const size_t parts = count > 2 ? strtoul(argument[2], NULL, 10) : 0;

	pool = malloc(1 << 20);
	lose((void **)(void *)(pool + (1 << 20) - 64));
	clear_stack();
	for (size_t i = 0; i < parts; i++) {
		kept[i] = pool + 64 + i * (size + 16);
		leakwrap_record(kept[i], size);
	}
	return 0;
}
