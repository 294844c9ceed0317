/* torture_library.c - a library in an archive, whose error path may lose a block. */
#include <stdlib.h>

struct opened {
	void *buffer, *index;
};

void *library_open(int has_bug)
{
	struct opened *opened = malloc(sizeof *opened);

	if (!opened)
		return NULL;
	opened->buffer = malloc(100);
	opened->index = opened->buffer ? malloc(200) : NULL;
	if (!opened->index) {
		if (!has_bug)
			free(opened->buffer);
		free(opened);
		return NULL;
	}
	return opened;
}

void library_close(void *closed)
{
	struct opened *opened = closed;

	free(opened->index);
	free(opened->buffer);
	free(opened);
}
