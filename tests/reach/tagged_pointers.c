/* tagged_pointers.c - keeps blocks by ordinary pointers, and others by pointers to their second
 * byte, as programs do that keep a mark in a pointer's lowest bit.  Keeps others by pointers to
 * their last bytes, next to a block that is kept by an ordinary pointer. */
#include <stdlib.h>

enum { BLOCKS = 20000, TAGGED = 2000, SIZE = 16, NEIGHBOURS = 1000, NEIGHBOUR_SIZE = 40 };

/* The other pointers come last: by then the tracer has reached the other blocks. */
static struct {
	char *volatile whole[BLOCKS], *volatile neighbours[NEIGHBOURS];
	char *volatile tagged[TAGGED], *volatile ends[NEIGHBOURS];
} kept;

/* Blocks that follow one another lie differently in the tracer's tables. */
static void keep_neighbours(void)
{
	for (int i = 0; i < NEIGHBOURS; i++) {
		char *const first = malloc(NEIGHBOUR_SIZE), *const second = malloc(NEIGHBOUR_SIZE);
		const int is_second = i < NEIGHBOURS / 2;

		/* cppcheck-suppress uninitdata ; nobody reads the blocks */
		kept.neighbours[i] = is_second ? first : second;
		kept.ends[i] = (is_second ? second : first) + NEIGHBOUR_SIZE - 3;
	}
}

int main(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		kept.whole[i] = malloc(SIZE);
		if (i % (BLOCKS / TAGGED) == 0) {
			char *const block = malloc(SIZE);

			kept.tagged[i / (BLOCKS / TAGGED)] = block + 1;
		}
	}
	keep_neighbours();
	return 0;
}
