/* failing_getline.c - getline fails at once, on a stream that has failed before. It must leave its
 * arguments alone: a block of the program with a capacity of 0, and a pointer to a freed block. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

static char *volatile mine;

static NOINLINE char *makes(void)
{
	return malloc(50);
}

static NOINLINE void reads(FILE *stream, char *line)
{
	char *before = line;
	size_t capacity = 0;

	if (getline(&line, &capacity, stream) != -1 || line != before)
		exit(1);
}

int main(void)
{
	FILE *stream = fopen("/", "r"); /* a folder cannot be read */
	char *freed = makes();

	mine = makes();
	free(freed);
	if (!stream || fgetc(stream) != EOF || !ferror(stream))
		return 2;
	reads(stream, mine);
	reads(stream, freed); /* NOLINT(clang-analyzer-unix.Malloc): getline does not use it */
	fclose(stream);
	return 0;
}
