/* left_getline.c - leaves getline by siglongjmp, as a handler that ends a wait does, and by
 * pthread_cancel.  The buffer stays the program's each time.  Then getline replaces it. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/noinline.h"

enum { SIZE = 40, LINE = 5000, TIMES = 300 };

static sigjmp_buf escape;
static bool leaves;
static char *line;
static size_t capacity;

static ssize_t read_some(void *unused, char *buffer, size_t size)
{
	(void)unused;
	if (leaves)
		siglongjmp(escape, 1);
	memset(buffer, 'a', size);
	if (size > LINE)
		buffer[LINE] = '\n';
	return (ssize_t)(size > LINE ? LINE + 1 : size);
}

static NOINLINE void make_buffer(void)
{
	line = malloc(capacity = SIZE);
}

static NOINLINE void read_line(FILE *stream)
{
	if (getline(&line, &capacity, stream) <= SIZE)
		exit(1);
}

static NOINLINE void leave(FILE *stream)
{
	volatile char frame[200];

	frame[0] = 1;
	leaves = true;
	if (sigsetjmp(escape, 1) == 0)
		read_line(stream);
	leaves = false;
	frame[1] = frame[0];
}

static void *wait_for_line(void *stream)
{
	read_line(stream);
	return NULL;
}

static void cancel(FILE *stream)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_line, stream) != 0)
		exit(2);
	usleep(1000);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

int main(void)
{
	FILE *stream = fopencookie(NULL, "r", (cookie_io_functions_t){.read = read_some});
	int ends[2];

	if (!stream || pipe(ends) != 0)
		return 2;
	setvbuf(stream, NULL, _IOFBF, 2 * (size_t)LINE);
	for (unsigned i = 0; i < TIMES; i++) {
		make_buffer();
		leave(stream);
		if (i < 20)
			cancel(fdopen(dup(ends[0]), "r"));
		if (i == 0)
			raise(SIGUSR1); /* dump 1: the buffer is as before */
		if (i % 3 == 0) {
			leave(stream);
			free(line);
			make_buffer();
		}
		read_line(stream);
		if (i == 0)
			raise(SIGUSR1); /* dump 2: the longer buffer */
		free(line);
	}
	return 0;
}
