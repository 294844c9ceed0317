/* peak.c - rises, falls, and rises again to less.  At the peak build_index() holds 60 MB, load() 30
 * MB and parse() 10 MB; at the end load() and later() hold memory. */
#include <stdlib.h>
#include <string.h>

#define BLOCKS 1000

static void *kept[4][BLOCKS];

#define SITE(name, size)                                  \
	static __attribute__((noinline)) void *name(void) \
	{                                                 \
		return memset(malloc(size), 1, size);     \
	}
SITE(build_index, 60000)
SITE(load, 30000)
SITE(parse, 10000)
SITE(later, 20000)

static void free_all(void **blocks)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		free(blocks[i]);
}

int main(void)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		kept[0][i] = build_index();
		kept[1][i] = load();
		kept[2][i] = parse();
	}
	free_all(kept[0]);
	free_all(kept[2]);
	for (unsigned i = 0; i < BLOCKS; i++)
		kept[3][i] = later();
	return 0;
}
