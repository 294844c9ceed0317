/* fork_in_thread.c - a thread that has not allocated forks, and its child allocates. Ends with 0 if
 * the tracer recognized the child's stacks, and did not walk all of them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 1000 };

extern _Atomic unsigned long leakwrap_walks; /* the tracer's counter of walks */

static void *volatile kept[BLOCKS];
static int status = -1;

static void *forks(void *argument)
{
	pid_t child = fork();

	if (child == 0) {
		unsigned long before = atomic_load(&leakwrap_walks);

		for (int i = 0; i < BLOCKS; i++)
			kept[i] = malloc(10);
		_exit(atomic_load(&leakwrap_walks) - before < BLOCKS / 10 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return argument;
}

int main(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, forks, NULL) != 0 || pthread_join(thread, NULL) != 0 ||
	       status;
}
