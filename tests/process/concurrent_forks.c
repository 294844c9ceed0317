/* concurrent_forks.c - threads fork at once. A handler runs before each fork, after the tracer's
 * handler, and takes its time. Ends with 0 if all children have come to their end. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, FORKS = 5 };

static void *volatile kept;

static void before_fork(void)
{
	usleep(30000);
}

/* fork calls last the handler that was registered first. */
static void before_all(void)
{
	if (pthread_atfork(before_fork, NULL, NULL) != 0)
		_exit(3);
}

/* A static program has no other way to register this early. */
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = before_all;

static void *forks(void *failed)
{
	for (int i = 0; i < FORKS; i++) {
		int status = -1;
		pid_t child = fork();

		if (child == 0) {
			kept = malloc(10);
			exit(kept ? 0 : 1);
		}
		if (waitpid(child, &status, 0) != child || status != 0)
			*(volatile int *)failed = 1;
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	int failed = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, forks, &failed) != 0)
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return failed;
}
