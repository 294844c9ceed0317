/* storm.c SECONDS - threads allocate from thousands of call sites, so that a dump takes long.
 * Another process asks for 1,000 dumps a second, for SECONDS, and on a slow machine until there
 * were some dumps. Prints how many signals were delivered. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/noinline.h"

static _Atomic unsigned long delivered, rounds;
static atomic_bool stopping;
static void *volatile kept;

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&delivered, 1);
}

/* Allocates from 2^LEVELS call sites. */
static NOINLINE void grow(int levels)
{
	if (levels == 0) {
		kept = malloc(10);
		return;
	}
	grow(levels - 1);
	grow(levels - 1);
}

static void *work(void *argument)
{
	while (!atomic_load(&stopping)) {
		free(malloc(100));
		atomic_fetch_add(&rounds, 1);
	}
	return argument;
}

/* Sends requests until it is killed, or the process is gone. Executed as another program, because
 * only another program's signals dump. */
static void ask(pid_t process)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};

	while (kill(process, SIGUSR1) == 0)
		nanosleep(&millisecond, NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	enum { DUMPS = 20, ROUNDS = 100 };
	const time_t start = time(NULL);
	pthread_t thread[4];
	pid_t self = getpid(), asking;
	char process[16], *environment[] = {"LEAKWRAP_OPTIONS=exit=0", NULL};

	if (argc == 3)
		ask(atoi(argv[2]));
	if (argc != 2)
		return 2;
	signal(SIGUSR1, on_signal);
	grow(9);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	asking = fork();
	if (asking == 0) {
		snprintf(process, sizeof(process), "%d", (int)self);
		execle(argv[0], argv[0], argv[1], process, NULL, environment);
		_exit(1);
	}
	while (time(NULL) - start <= atoi(argv[1]) || atomic_load(&delivered) <= DUMPS ||
	       atomic_load(&rounds) <= ROUNDS)
		usleep(10000);
	kill(asking, SIGKILL);
	while (waitpid(asking, NULL, 0) != asking)
		;
	atomic_store(&stopping, true);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%lu %lu\n", atomic_load(&delivered), atomic_load(&rounds));
	return 0;
}
