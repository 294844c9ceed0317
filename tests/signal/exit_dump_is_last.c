/* exit_dump_is_last.c - a program whose exit dump takes some time. */
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 100000

static void *volatile kept[BLOCKS];

int main(void)
{
	for (int i = 0; i < BLOCKS; i++)
		kept[i] = malloc(16);
	kept[0] = NULL;
	puts("ready");
	fflush(stdout);
	return getchar() != EOF;
}
