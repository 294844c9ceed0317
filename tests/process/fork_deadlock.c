/* fork_deadlock.c [flush] - a thread holds a lock that fork takes, as malloc does after it has told
 * the tracer. While fork waits for this lock, the thread takes a dump, allocates from new stacks,
 * and sets the signal's handler again in the handler.
 *
 * Without "flush", a handler before the fork takes the lock. With "flush" it is the C library's
 * lock of all streams: a stream's own write function does the thread's work while all streams are
 * flushed.
 *
 * In the child, a handler allocates from new stacks. Ends with 0 if all threads came to their end,
 * and the child's threads at once, or with 5 if only the child's took more than a second. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS 5
#define SLOW   5

static void *volatile kept[BLOCKS];
static pthread_mutex_t allocator = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_held, fork_waits;
static bool flushes, is_slow;
static volatile sig_atomic_t handled;

static void before_fork(void)
{
	atomic_store(&fork_waits, true);
	if (!flushes)
		pthread_mutex_lock(&allocator);
}

static void after_fork(void)
{
	if (!flushes)
		pthread_mutex_unlock(&allocator);
}

static void again(int signo)
{
	signal(signo, again);
	handled++;
}

/* Allocates from a stack of its own for each DEPTH. */
static __attribute__((noinline)) void allocate(unsigned depth)
{
	volatile unsigned below = depth;

	if (below > 0)
		allocate(below - 1);
	kept[depth] = malloc(10);
	below++;
}

static void after_fork_in_child(void)
{
	struct timespec start, end;

	after_fork();
	clock_gettime(CLOCK_MONOTONIC, &start);
	allocate(BLOCKS - 1);
	clock_gettime(CLOCK_MONOTONIC, &end);
	is_slow = end.tv_sec - start.tv_sec > 1;
}

/* fork calls last the handler that was registered first, and after the fork it calls it first. */
static void before_all(void)
{
	if (pthread_atfork(before_fork, after_fork, after_fork_in_child) != 0)
		_exit(3);
}

/* A static program has no other way to register this early. */
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = before_all;

static void hold(void)
{
	atomic_store(&is_held, true);
	while (!atomic_load(&fork_waits))
		usleep(1000);
	usleep(10000);
	raise(SIGUSR1);
	allocate(BLOCKS - 1);
}

static ssize_t write_nothing(void *cookie, const char *bytes, size_t size)
{
	(void)cookie, (void)bytes;
	hold();
	return (ssize_t)size;
}

static void *holder(void *flushes)
{
	const cookie_io_functions_t functions = {.write = write_nothing};
	FILE *stream;

	if (flushes) {
		stream = fopencookie(NULL, "w", functions);
		if (!stream || fputs("text", stream) < 0)
			_exit(4);
		fflush(NULL);
	} else {
		pthread_mutex_lock(&allocator);
		hold();
		pthread_mutex_unlock(&allocator);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int status = -1;
	pid_t child;

	flushes = argc > 1;
	kept[0] = malloc(100);
	free(kept[0]);
	signal(SIGUSR1, again);
	if (pthread_create(&thread, NULL, holder, flushes ? argv[1] : NULL) != 0)
		return 2;
	while (!atomic_load(&is_held))
		usleep(1000);
	child = fork();
	if (child == 0) {
		raise(SIGUSR1);
		_exit(handled != 2 ? 1 : is_slow ? SLOW : 0);
	}
	waitpid(child, &status, 0);
	pthread_join(thread, NULL);
	printf("%d handled, the child's status %d\n", handled, status);
	return handled != 1 || !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
}
