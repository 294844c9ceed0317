/* relinked.c LIBRARY THREADS - keeps blocks that prebuilt libraries allocate in THREADS threads, or
 * in main if THREADS is 0. Then it dumps. */
#include "leakwrap.h"
#include "workloads.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS_MAX 8

static void *in_thread(void *library)
{
	if (!use_library(library, true))
		abort();
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : THREADS_MAX + 1;
	pthread_t threads[THREADS_MAX];

	if (count > THREADS_MAX)
		return 2;
	if (count == 0)
		in_thread(argv[1]);
	for (unsigned long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, in_thread, argv[1]) != 0)
			return 1;
	for (unsigned long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return leakwrap_dump(-1) == 0 ? 0 : 1;
}
