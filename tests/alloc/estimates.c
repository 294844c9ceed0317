/* estimates.c tiny|middle|mixed - two functions hold blocks until the program ends.
 * Prints "FUNCTION BYTES" for each. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

/* The function NAME allocates a block, and counts its bytes. */
#define HOLDER(name)                                            \
	static size_t name##_bytes;                             \
	static __attribute__((noinline)) void name(size_t size) \
	{                                                       \
		*(volatile char *)malloc(size) = 1;             \
		name##_bytes += size;                           \
	}

HOLDER(hold_even)
HOLDER(hold_odd)

static size_t random_size(const char *kind)
{
	static uint64_t state;
	const size_t random = (size_t)(draw_random(&state) >> 33);

	if (strcmp(kind, "tiny") == 0)
		return 8 + random % 57;
	if (strcmp(kind, "middle") == 0)
		return 500 + random % 9501;
	return random % 100 == 0 ? 20000 + random % 280001 : 16 + random % 1000;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "tiny";

	for (int i = 0; hold_even_bytes + hold_odd_bytes < 100000000; i++)
		if (i % 3 == 0)
			hold_even(random_size(kind));
		else
			hold_odd(random_size(kind));
	printf("hold_even %zu\nhold_odd %zu\n", hold_even_bytes, hold_odd_bytes);
	return 0;
}
