/* inside_callbacks.c line|list FOLDER - the C library calls the program's functions, which
 * allocate. "line": while getline waits with the program's buffer. "list": between the first
 * allocation of scandir and its end. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

static void *volatile hidden;

static ssize_t on_read(void *cookie, char *buffer, size_t size)
{
	(void)cookie;
	hidden = malloc(10);
	free(hidden);
	memset(buffer, 'x', size);
	if (size > 300)
		buffer[300] = '\n';
	return (ssize_t)size;
}

static NOINLINE char *first_buffer(void)
{
	return malloc(16);
}

static NOINLINE char *grown_buffer(void)
{
	const cookie_io_functions_t functions = {.read = on_read};
	FILE *stream = fopencookie(NULL, "r", functions);
	char *line = first_buffer();
	size_t capacity = 16;

	if (!stream || getline(&line, &capacity, stream) != 301)
		exit(1);
	fclose(stream);
	return line;
}

static int on_compare(const struct dirent **left, const struct dirent **right)
{
	hidden = malloc(10);
	hidden = realloc(hidden, 0); /* the last call allocates nothing */
	return alphasort(left, right);
}

static NOINLINE struct dirent **listed(const char *folder)
{
	struct dirent **list;

	if (scandir(folder, &list, NULL, on_compare) < 2)
		exit(1);
	return list;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	hidden = strcmp(argv[1], "line") == 0 ? (void *)grown_buffer() : listed(argv[2]);
	return 0;
}
