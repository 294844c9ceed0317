/* large_frames.c - vendor code: a function has a buffer of SIZE bytes, and allocates.  A program is
 * linked from several sizes, and from main, which is compiled with -DSIZES="RUN(SIZE) ...". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

#ifndef SIZES

#ifndef SIZE
#define SIZE 6000
#endif

#define JOIN(name, size)   name##_##size
#define JOINED(name, size) JOIN(name, size)
#define OF_SIZE(name)      JOINED(name, SIZE)

static char *volatile kept[2];
static int count;

void OF_SIZE(read_line)(const char *text);
int OF_SIZE(parse)(const char *text);
int OF_SIZE(load)(const char *text);
int OF_SIZE(run)(void);

NOINLINE void OF_SIZE(read_line)(const char *text)
{
	char buffer[SIZE];

	snprintf(buffer, sizeof(buffer), "line %s", text);
	kept[count] = malloc(1000);
	strcpy(kept[count++], buffer);
}

NOINLINE int OF_SIZE(parse)(const char *text)
{
	OF_SIZE(read_line)(text);
	return count + 1;
}

NOINLINE int OF_SIZE(load)(const char *text)
{
	const int result = OF_SIZE(parse)(text);

	puts("loaded");
	return result;
}

NOINLINE int OF_SIZE(run)(void)
{
	return OF_SIZE(load)("a") + OF_SIZE(load)("b") != 5;
}

#else

#define RUN(size) int run_##size(void);
SIZES
#undef RUN
#define RUN(size) +run_##size()

int main(void)
{
	return (SIZES) != 0;
}

#endif
