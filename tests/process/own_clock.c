/* own_clock.c - defines its own clock, like a program that simulates time. The clock takes a lock
 * and stands still. A dump is requested while the program reads the clock. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned readings;
static void *volatile kept;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	pthread_mutex_lock(&lock);
	readings++;
	if (readings == 1)
		raise(SIGUSR1);
	*now = (struct timespec){1, 0};
	pthread_mutex_unlock(&lock);
	return 0;
}

int main(void)
{
	struct timespec now;

	kept = malloc(100);
	clock_gettime(CLOCK_REALTIME, &now);
	printf("%u\n", readings);
	return 0;
}
