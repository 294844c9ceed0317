/* switched_inside.c - sampling ends inside a call of strdup, between its call of malloc and its own
 * end.  Prints how many more blocks are recorded after the call, and after the block is freed. */
#include "leakwrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long live(void)
{
	struct leakwrap_counters counters;

	leakwrap_get_counters(&counters);
	return counters.live_blocks;
}

int main(void)
{
	const unsigned long before = live();
	char *volatile text;
	unsigned long held;

	leakwrap_set_sample(1);
	text = strdup("text");
	held = live() - before;
	free(text);
	printf("%lu %lu\n", held, live() - before);
	return 0;
}
