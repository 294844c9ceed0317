/* concurrent_exits.c FUNCTION [beside] - one thread returns 7 from main with many call sites.
 * While their dump is written, another thread calls FUNCTION, exit or _exit, with 8.
 *
 * With "beside", the exit dump first waits for another dump, which goes to a pipe that is read
 * late. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leakwrap.h"

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

static int end[2];

static void *dump(void *unused)
{
	leakwrap_dump(end[1]);
	return unused;
}

static void *read_late(void *unused)
{
	char bytes[4096];

	while (!atomic_load(&returned))
		usleep(1000);
	usleep(500000);
	while (read(end[0], bytes, sizeof(bytes)) > 0)
		;
	return unused;
}

/* Returns when a thread writes a dump to the pipe, which is full. */
static bool dump_beside(void)
{
	struct pollfd room = {.events = POLLOUT};
	pthread_t dumper, late;

	if (pipe(end) != 0 || pthread_create(&dumper, NULL, dump, NULL) != 0 ||
	    pthread_create(&late, NULL, read_late, NULL) != 0)
		return false;
	room.fd = end[1];
	while (poll(&room, 1, 0) != 0)
		usleep(1000);
	return true;
}

int main(int count, char **words)
{
	pthread_t thread;

	allocate(0);
	if (count == 3 && !dump_beside())
		return 2;
	if (count < 2 || pthread_create(&thread, NULL, leave, words[1]) != 0)
		return 1;
	atomic_store(&returned, 1);
	return 7;
}
