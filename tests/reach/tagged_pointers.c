/* tagged_pointers.c - keeps blocks by ordinary pointers, and others by pointers to their second
 * byte, as programs do that keep a mark in a pointer's lowest bit. */
#include <stdlib.h>

enum { BLOCKS = 20000, TAGGED = 2000, SIZE = 16 };

/* The tagged pointers come last: by then the tracer has reached the other blocks. */
static struct {
	char *volatile whole[BLOCKS], *volatile tagged[TAGGED];
} kept;

int main(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		kept.whole[i] = malloc(SIZE);
		if (i % (BLOCKS / TAGGED) == 0) {
			char *const block = malloc(SIZE);

			kept.tagged[i / (BLOCKS / TAGGED)] = block + 1;
		}
	}
	return 0;
}
