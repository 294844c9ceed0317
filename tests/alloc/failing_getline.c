/* failing_getline.c - getline fails at once, from a stream that has failed before, and leaves alone what it was given without a
 * capacity: a block of the program's, and a pointer to one that was freed. */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

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
	reads(stream, freed); /* NOLINT(clang-analyzer-unix.Malloc): it is not used */
	fclose(stream);
	return 0;
}
