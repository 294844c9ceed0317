/* many_requests.c - while a thread writes a dump to a pipe that nobody reads, another thread sends
 * the signal again and again.  Ends with 0 if the second thread waits after 64 requests, and if a
 * thread that has served eight requests is relieved by the next thread that gets the signal; and
 * each request has its dump. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PENDING_MAX = 64, SERVED_MAX = 8, PAUSE = 50000, PIPE_SIZE = 4096 };

static void *volatile kept;
static int reader;
static unsigned ends; /* whole dumps that were read */
static _Atomic unsigned sent, running;

/* Each ONE is a call site. */
#define ONE kept = malloc(10)
#define TEN (ONE, ONE, ONE, ONE, ONE, ONE, ONE, ONE, ONE, ONE)

static void *send_signals(void *count)
{
	for (uintptr_t i = 0; i < (uintptr_t)count; i++) {
		raise(SIGUSR1);
		atomic_fetch_add(&sent, 1);
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static void start(uintptr_t count)
{
	pthread_t thread;

	atomic_fetch_add(&running, 1);
	if (pthread_create(&thread, NULL, send_signals, (void *)count) != 0)
		exit(2);
	pthread_detach(thread);
}

/* Reads a byte if there is one, and counts the ends of dumps.  Returns whether there was one. */
static bool read_byte(void)
{
	static const char wanted[] = "] end ";
	static size_t matched;
	char byte;

	if (read(reader, &byte, 1) != 1) {
		usleep(100);
		return false;
	}
	matched = byte == wanted[matched] ? matched + 1 : byte == wanted[0];
	if (matched == strlen(wanted)) {
		matched = 0;
		ends++;
	}
	return true;
}

static void wait_until_full(void)
{
	struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};

	while (poll(&room, 1, 0) != 0)
		usleep(1000);
}

/* Ends the process with a message if COUNT is not WANTED. */
static void check(const char *what, unsigned count, unsigned wanted)
{
	if (count == wanted)
		return;
	dprintf(STDOUT_FILENO, "%s: %u, not %u\n", what, count, wanted);
	_exit(1);
}

/* Reads until the threads have ended, and nothing is left in the pipe. */
static void read_all(unsigned wanted)
{
	bool have_ended, was_empty;

	do {
		have_ended = atomic_load(&running) == 0;
		was_empty = !read_byte();
	} while (!have_ended || !was_empty);
	check("dumps", ends, wanted);
}

/* The first dump fills the pipe.  Then 100 requests come from one thread. */
static void check_pending(void)
{
	start(1);
	wait_until_full();
	start(100);
	while (atomic_load(&sent) < PENDING_MAX)
		usleep(1000);
	usleep(PAUSE);
	check("requests that do not wait", atomic_load(&sent), PENDING_MAX);
	read_all(101);
}

/* A thread has served more than SERVED_MAX of 20 requests.  Then another thread gets a signal. */
static void check_served(void)
{
	atomic_store(&sent, 0);
	ends = 0;
	start(1);
	wait_until_full();
	start(20);
	while (atomic_load(&sent) < 20)
		usleep(1000);
	while (ends < SERVED_MAX + 1)
		read_byte();
	wait_until_full();
	start(1);
	usleep(PAUSE);
	check("requests before the thread is relieved", atomic_load(&sent), 20);
	read_all(22);
}

int main(void)
{
	int end[2];

	(void)(TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN);
	if (pipe(end) != 0 || fcntl(end[1], F_SETPIPE_SZ, PIPE_SIZE) < 0 || dup2(end[1], 2) != 2)
		return 2;
	reader = end[0];
	fcntl(reader, F_SETFL, O_NONBLOCK);
	check_pending();
	check_served();
	return 0;
}
