/* ended_argument.c - each thread frees its argument, as std::thread does. Then as many blocks of
 * the same size are lost: some get the address of an argument, which the C library still holds. */
#include "tests/noinline.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, SIZE = 40 };

static void *volatile kept;

static void *run(void *argument)
{
	free(argument);
	free(malloc(1000)); /* else the tracer does not know where the thread's stack ends */
	return NULL;
}

static NOINLINE void lose(void)
{
	kept = malloc(SIZE);
	kept = NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, malloc(SIZE)) != 0)
			return 1;
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_join(thread[i], NULL) != 0)
			return 1;
	for (unsigned i = 0; i < THREADS; i++)
		lose();
	return 0;
}
