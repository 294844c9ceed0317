/* large_frames.c - vendor code: a function has a buffer of SIZE bytes, and allocates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

#ifndef SIZE
#define SIZE 6000
#endif

static char *volatile kept[2];
static int count;

NOINLINE void read_line(const char *text)
{
	char buffer[SIZE];

	snprintf(buffer, sizeof(buffer), "line %s", text);
	kept[count] = malloc(1000);
	strcpy(kept[count++], buffer);
}

NOINLINE int parse(const char *text)
{
	read_line(text);
	return count + 1;
}

NOINLINE int load(const char *text)
{
	const int result = parse(text);

	puts("loaded");
	return result;
}

int main(void)
{
	return load("a") + load("b") != 5;
}
