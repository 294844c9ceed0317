/* ignored_again.c - one thread ignores the dump signal over and over, and another reads from a pipe
 * while the signal comes.  Prints how many of its reads were interrupted. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/request.h"

enum { SIGNALS = 30000 };

static int ends[2];
static atomic_int interrupted, is_over;

static void *read_byte(void *argument)
{
	char byte;

	while (read(ends[0], &byte, 1) != 1)
		interrupted += errno == EINTR;
	return argument;
}

static void *ignore(void *argument)
{
	struct sigaction action = {.sa_handler = SIG_IGN};

	while (!is_over)
		sigaction(SIGUSR1, &action, NULL);
	return argument;
}

int main(void)
{
	/* As of leakwrap mark, which is served soon. */
	const union sigval value = {.sival_int = (int)(LEAKWRAP_SET | LEAKWRAP_SET_MARK)};
	pthread_t reader, ignorer;

	free(malloc(1));
	signal(SIGUSR1, SIG_IGN);
	if (pipe(ends) != 0 || pthread_create(&reader, NULL, read_byte, NULL) != 0 ||
	    pthread_create(&ignorer, NULL, ignore, NULL) != 0)
		return 2;
	for (int i = 0; i < SIGNALS; i++) {
		pthread_sigqueue(reader, SIGUSR1, value);
		if (i % 100 == 0)
			usleep(100);
	}
	is_over = 1;
	pthread_join(ignorer, NULL);
	if (write(ends[1], "", 1) != 1)
		return 2;
	pthread_join(reader, NULL);
	printf("interrupted: %d\n", interrupted);
	return 0;
}
