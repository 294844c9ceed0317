/* many_threads.c ROUNDS - in each round, thousands of threads live at once and allocate. */
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 8000, STACK = 32768 };

static pthread_barrier_t all_run;

static void *allocate(void *argument)
{
	void *volatile block = malloc(16);

	pthread_barrier_wait(&all_run);
	free(block);
	return argument;
}

static int run_all(const pthread_attr_t *attributes)
{
	static pthread_t thread[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], attributes, allocate, NULL) != 0)
			return 77;
	pthread_barrier_wait(&all_run);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	int result = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_barrier_init(&all_run, NULL, THREADS + 1);
	for (int rounds = argc > 1 ? atoi(argv[1]) : 0; rounds > 0 && result == 0; rounds--)
		result = run_all(&attributes);
	return result;
}
