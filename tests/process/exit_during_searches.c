/* exit_during_searches.c - two threads ask for the kinds of blocks over and over, and main ends the
 * process meanwhile. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "leakwrap.h"

static void *ask(void *unused)
{
	struct leakwrap_kind_counters kinds;

	for (;;)
		leakwrap_get_kinds(&kinds);
	return unused;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, ask, NULL) != 0)
			return 1;
	usleep(20000);
	return 0;
}
