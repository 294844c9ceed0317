/* concurrent_exits.c - one thread returns from main with many call sites. While their dump is
 * written, another thread calls _exit. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEPTH = 400 };

static void *volatile kept[DEPTH];
static atomic_bool returned;

static __attribute__((noinline)) void allocate(unsigned depth)
{
	volatile unsigned here = depth;

	kept[depth] = malloc(10);
	if (here + 1 < DEPTH)
		allocate(here + 1);
	here++;
}

static void *leave(void *argument)
{
	while (!atomic_load(&returned))
		usleep(1000);
	usleep(300000);
	_exit(7);
	return argument;
}

int main(void)
{
	pthread_t thread;

	allocate(0);
	if (pthread_create(&thread, NULL, leave, NULL) != 0)
		return 1;
	atomic_store(&returned, 1);
	return 7;
}
