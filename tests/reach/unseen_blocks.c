/* unseen_blocks.c seen | foreign | untracked | stream - keeps a block by a pointer in a block that
 * no wrapper has seen.  What shows the tracer that there are such blocks?
 *
 * foreign: the release of another one.
 * untracked: a block that the tracer has seen, and had no room for.
 * stream: nothing.  The program loses a stream, which the tracer remembers, too. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"

/* The tracer has room for as many memory streams. */
enum { STREAMS = 1024 };

static void *(*unseen_malloc)(size_t size);
static void *volatile *unseen;

static NOINLINE void keep(void)
{
	unseen = unseen_malloc(80);
	unseen[5] = malloc(40);
}

static NOINLINE void open_streams(void)
{
	static FILE *volatile stream[STREAMS + 1];
	static char *text;
	static size_t length;

	for (int i = 0; i <= STREAMS; i++)
		stream[i] = open_memstream(&text, &length);
	if (!stream[STREAMS])
		exit(1);
}

static NOINLINE void lose_stream(void)
{
	char **const text = malloc(sizeof(*text));
	size_t *const length = malloc(sizeof(*length));

	if (!open_memstream(text, length))
		exit(1);
}

int main(int argc, char **argv)
{
	const char *const how = argc > 1 ? argv[1] : "";
	void *const library = dlopen("libc.so.6", RTLD_NOW);

	unseen_malloc = library ? (void *(*)(size_t))dlsym(library, "malloc") : NULL;
	if (!unseen_malloc)
		return 77;
	keep();
	if (strcmp(how, "foreign") == 0)
		free(unseen_malloc(1000));
	else if (strcmp(how, "untracked") == 0)
		open_streams();
	else if (strcmp(how, "stream") == 0)
		lose_stream();
	clear_stack();
	return raise(SIGUSR1);
}
