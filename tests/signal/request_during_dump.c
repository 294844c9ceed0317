/* request_during_dump.c - has many call sites, so that a dump fills a pipe that nobody reads yet.
 * While the dump waits there, two more requests come: for the dumping thread and for another
 * thread. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile kept;

/* Each ONE is a call site; there are 1,000. */
#define ONE     kept = malloc(10);
#define TEN     ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void *idle(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static void *ask(void *threads)
{
	pthread_t *thread = threads;

	pthread_kill(thread[0], SIGUSR1);
	sleep(1); /* the pipe is full now */
	pthread_kill(thread[0], SIGUSR1);
	pthread_kill(thread[1], SIGUSR1);
	sleep(1);
	dprintf(STDOUT_FILENO, "asked\n");
	return NULL;
}

int main(void)
{
	pthread_t thread[2], asking;

	HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
	        pthread_create(&thread[0], NULL, idle, NULL);
	pthread_create(&thread[1], NULL, idle, NULL);
	pthread_create(&asking, NULL, ask, thread);
	pthread_join(asking, NULL);
	sleep(2);
	return 0;
}
