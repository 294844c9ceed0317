/* unseen_frees.c FOLDER - blocks travel between the traced program and an untraced library. */
#include "unseen_frees.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

enum { COUNT = 20 };

static void *volatile mine[COUNT], *volatile between[COUNT], *volatile kept[2];

static NOINLINE void first(int i)
{
	mine[i] = malloc(64);
}

static NOINLINE void second(int i)
{
	mine[i] = malloc(64);
}

static NOINLINE void grown(void)
{
	mine[0] = realloc(library_makes(10), 2000);
}

static NOINLINE char *short_line(void)
{
	return malloc(16);
}

static NOINLINE char *longer_line(void)
{
	char text[300], *line = short_line();
	size_t capacity = 16;
	FILE *stream;

	memset(text, 'x', sizeof(text));
	stream = fmemopen(text, sizeof(text), "r");
	for (int i = 0; i < COUNT; i++)
		library_frees(mine[i]);
	if (!stream || getline(&line, &capacity, stream) != sizeof(text))
		exit(1);
	fclose(stream);
	return line;
}

static NOINLINE struct dirent **listed(const char *folder)
{
	struct dirent **list;

	for (int i = 0; i < COUNT; i++)
		library_frees(mine[i]);
	if (scandir(folder, &list, NULL, NULL) < 0)
		exit(1);
	return list;
}

/* Allocates large blocks with others between them, so that their memory does not coalesce. */
static NOINLINE void large(void)
{
	for (int i = 0; i < COUNT; i++) {
		mine[i] = malloc(4000);
		between[i] = malloc(2000);
	}
}

int main(int argc, char **argv)
{
	int returned = 0;

	if (argc != 2)
		return 2;

	/* The library allocates, the program frees. */
	for (int i = 0; i < COUNT; i++)
		free(library_makes(500));

	/* The program allocates, the library frees, the program allocates at the same address. */
	for (int i = 0; i < COUNT; i++) {
		void *before;

		first(i);
		before = mine[i];
		library_frees(mine[i]);
		second(i);
		returned += mine[i] == before;
	}
	grown();

	/* The program allocates, the library frees, and the C library hands parts of these blocks
	 * to the program. */
	large();
	kept[0] = longer_line();
	large();
	kept[1] = listed(argv[1]);
	printf("%d\n", returned);
	return 0;
}
