/* pending_cancel.c - a cancelled thread takes a dump before it comes to a cancellation point. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

static void *dumping(void *argument)
{
	pthread_cancel(pthread_self());
	kept = malloc(10);
	raise(SIGUSR1);
	*(int *)argument = 1;
	pthread_testcancel();
	*(int *)argument = 2;
	return NULL;
}

int main(void)
{
	pthread_t thread;
	void *result;
	int reached = 0;

	pthread_create(&thread, NULL, dumping, &reached);
	pthread_join(thread, &result);
	printf("reached %d, cancelled %d\n", reached, result == PTHREAD_CANCELED);
	return 0;
}
