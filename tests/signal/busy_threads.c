/* busy_threads.c DUMPS LOG - eight threads allocate and free as fast as they can. Meanwhile the
 * process is asked for one dump after the other. The threads count their blocks. The program prints
 * how many bytes they hold at the end. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/random.h"

enum { THREADS = 8, SLOTS = 1000 };

static int stopping;

/* A thread's blocks, and how many bytes they have. */
struct work {
	void *block[SLOTS];
	size_t size[SLOTS];
	unsigned long bytes, blocks, events;
};

static __attribute__((noinline)) void *churn(void *argument)
{
	struct work *work = argument;
	uint64_t state = (uintptr_t)work;

	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		const unsigned random = (unsigned)draw_random(&state);
		const unsigned slot = (random >> 8) % SLOTS;

		if (work->block[slot] && random % 4 == 0) {
			/* realloc moves the block or keeps it in place. */
			work->bytes -= work->size[slot];
			work->size[slot] = random % 5000 + 1;
			work->block[slot] = realloc(work->block[slot], work->size[slot]);
			work->bytes += work->size[slot];
		} else if (work->block[slot]) {
			work->bytes -= work->size[slot];
			work->blocks--;
			free(work->block[slot]);
			work->block[slot] = NULL;
		} else {
			work->size[slot] = random % 300;
			work->block[slot] = malloc(work->size[slot]);
			work->bytes += work->size[slot];
			work->blocks++;
		}
		work->events++;
	}
	return NULL;
}

/* Reads the new part of the log. Returns true if it holds the end of a dump. */
static int dump_arrived(int log)
{
	static char text[1 << 16];
	static size_t kept;
	ssize_t got = read(log, text + kept, sizeof(text) - kept - 1);
	int arrived;

	if (got <= 0)
		return 0;
	text[kept + (size_t)got] = '\0';
	arrived = strstr(text, "] end ") != NULL;
	/* Reads the last bytes again next time, unless they belong to a counted dump. */
	kept += (size_t)got;
	if (arrived)
		kept = 0;
	else if (kept > 16) {
		memmove(text, text + kept - 16, 16);
		kept = 16;
	}
	return arrived;
}

int main(int argc, char **argv)
{
	static struct work work[THREADS];
	pthread_t thread[THREADS];
	unsigned long bytes = 0, blocks = 0, events = 0;
	sigset_t usr1;
	int log;

	if (argc != 3)
		return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, churn, &work[i]);
	/* The working threads take the dumps. */
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	log = open(argv[2], O_RDONLY | O_CREAT, 0600);
	for (int i = atoi(argv[1]); i > 0; i--) {
		kill(getpid(), SIGUSR1);
		while (!dump_arrived(log))
			usleep(200);
	}
	__atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		bytes += work[i].bytes;
		blocks += work[i].blocks;
		events += work[i].events;
	}
	fprintf(stderr, "%lu events\n", events);
	printf("%lu %lu\n", bytes, blocks);
	return 0;
}
