/* request_during_dump.c OVER - has many call sites, so that a dump fills a pipe that nobody reads
 * yet. While the dump waits there, two more requests come: for the dumping thread and for another
 * thread. Ends when the file OVER exists. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
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

static bool is_full(int pipe)
{
	struct pollfd room = {.fd = pipe, .events = POLLOUT};

	return poll(&room, 1, 0) == 0;
}

static void *ask(void *threads)
{
	pthread_t *thread = threads;

	pthread_kill(thread[0], SIGUSR1);
	while (!is_full(STDERR_FILENO))
		usleep(1000);
	pthread_kill(thread[0], SIGUSR1);
	pthread_kill(thread[1], SIGUSR1);
	sleep(1);
	dprintf(STDOUT_FILENO, "asked\n");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2], asking;

	HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
	        pthread_create(&thread[0], NULL, idle, NULL);
	pthread_create(&thread[1], NULL, idle, NULL);
	pthread_create(&asking, NULL, ask, thread);
	pthread_join(asking, NULL);
	while (argc > 1 && access(argv[1], F_OK) != 0)
		usleep(10000);
	return 0;
}
