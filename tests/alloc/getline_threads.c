/* getline_threads.c - while getline replaces a buffer inside the C library, another thread gets the
 * old buffer's address, at the same call site and with the same size: it is another block.
 *
 * Linked with an allocator of the test's own (getline_threads_malloc.c). */
#include "tests/alloc/handed_on_malloc.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

enum { SIZE = 40, LINE = 200 };

static volatile bool armed;
static void *block[2];
static char text[LINE + 2];

static NOINLINE void *make_buffer(void)
{
	return malloc(SIZE);
}

/* Both threads allocate here, from the same stack. */
static void *allocate(void *number)
{
	unsigned i = *(const unsigned *)number;

	block[i] = make_buffer();
	return NULL;
}

static void run(unsigned number)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, allocate, &number) == 0)
		pthread_join(thread, NULL);
}

void inside_realloc(enum place place)
{
	if (armed && place == OLD_BLOCK_FREE) {
		armed = false;
		run(1);
	}
}

static NOINLINE char *read_line(char *line, FILE *stream)
{
	size_t capacity = SIZE;

	return getline(&line, &capacity, stream) == LINE + 1 ? line : NULL;
}

int main(void)
{
	FILE *stream;
	char *line;

	memset(text, 'a', LINE);
	text[LINE] = '\n';
	stream = fmemopen(text, LINE + 1, "r");
	run(0);
	armed = true;
	line = read_line(block[0], stream);
	if (!line || block[1] != block[0])
		return 1;
	raise(SIGUSR1); /* dump 1: the line, and the second thread's block */
	free(block[1]);
	free(line);
	return 0;
}
