/* aligned_frame.c - a function aligns its stack to 256 bytes, and allocates. */
#include <stdlib.h>

#include "tests/noinline.h"

struct lights {
	float light[64];
} __attribute__((aligned(256)));

static void *volatile kept[2];
static int count;

NOINLINE void fill(struct lights *lights, int from, char *text)
{
	for (int i = 0; i < 64; i++)
		lights->light[i] = (float)(from * i);
	text[0] = (char)from;
}

/* Arguments on the stack, and an array of variable length. */
NOINLINE int scene(int from, int a, int b, int c, int d, int e, int f, int g)
{
	struct lights lights;
	char text[from * 40];

	fill(&lights, from, text);
	kept[count++] = malloc(1000);
	return (int)lights.light[3] + text[0] + a + b + c + d + e + f + g;
}

NOINLINE int load(int from)
{
	return scene(from, 1, 2, 3, 4, 5, 6, 7) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return load(argc) + load(argc + 1) == 0;
}
