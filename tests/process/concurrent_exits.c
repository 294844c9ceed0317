/* concurrent_exits.c FUNCTION - one thread returns 7 from main with many call sites.  While their
 * dump is written, another thread calls FUNCTION, exit or _exit, with 8. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
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
	if (strcmp(argument, "exit") == 0)
		exit(8);
	_exit(8);
}

int main(int count, char **words)
{
	pthread_t thread;

	allocate(0);
	if (count != 2 || pthread_create(&thread, NULL, leave, words[1]) != 0)
		return 1;
	atomic_store(&returned, 1);
	return 7;
}
