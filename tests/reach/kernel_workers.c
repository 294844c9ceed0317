/* kernel_workers.c poll|work|many PATH - the kernel runs threads of its own in this process
 * (io_uring(7)), which no signal stops.  Loses a block of 1001 bytes and asks for DUMPS dumps.
 * Fails if each dump leaves a signal that waits.  Prints "done".  Status 9: this machine does not
 * have it.  PATH is where "many" makes a named pipe. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

#define DUMPS 40
#define MANY  400 /* threads, more than the tracer has groups of thread ids (park.c) */

#if defined __has_include
#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif
#endif

static int threads_wanted = 2;

#ifdef IORING_SETUP_SQPOLL

#define REGISTER_MAX_WORKERS 19 /* IORING_REGISTER_IOWQ_MAX_WORKERS, since Linux 5.15 */

static struct io_uring_params params;
static int ring;

static void *map(size_t size, off_t what)
{
	void *const mapped =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);

	if (mapped == MAP_FAILED)
		exit(1);
	return mapped;
}

/* Has COUNT threads of the kernel do what REQUEST says. */
static void have_done(struct io_uring_sqe request, unsigned count)
{
	char *const queue =
	        map(params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	struct io_uring_sqe *const entry = map(params.sq_entries * sizeof(*entry), IORING_OFF_SQES);

	request.flags = IOSQE_ASYNC;
	for (unsigned i = 0; i < count; i++) {
		entry[i] = request;
		((unsigned *)(void *)(queue + params.sq_off.array))[i] = i;
	}
	__atomic_store_n((unsigned *)(void *)(queue + params.sq_off.tail), count, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, ring, count, 0, 0, NULL, 0) != (long)count)
		exit(1);
}

/* A thread of the kernel waits for a pipe. */
static void read_in_kernel(void)
{
	static char buffer[8];
	int ends[2];

	if (pipe(ends) != 0)
		exit(1);
	have_done((struct io_uring_sqe){.opcode = IORING_OP_READ,
	                                .fd = ends[0],
	                                .addr = (uintptr_t)buffer,
	                                .len = sizeof(buffer)},
	          1);
}

/* MANY threads of the kernel wait for somebody to open the other end of the named pipe PATH. */
static void open_in_kernel(const char *path)
{
	unsigned most[2] = {MANY, MANY};

	if (syscall(__NR_io_uring_register, ring, REGISTER_MAX_WORKERS, most, 2) != 0)
		exit(9);
	if (mkfifo(path, 0600) != 0)
		exit(1);
	have_done((struct io_uring_sqe){.opcode = IORING_OP_OPENAT,
	                                .fd = AT_FDCWD,
	                                .addr = (uintptr_t)path},
	          MANY);
	threads_wanted = MANY;
}

static void start(const char *what, const char *path)
{
	if (strcmp(what, "poll") == 0) {
		params.flags = IORING_SETUP_SQPOLL;
		params.sq_thread_idle = 20000;
	}
	ring = (int)syscall(__NR_io_uring_setup, MANY, &params);
	if (ring < 0)
		exit(9);
	if (strcmp(what, "work") == 0)
		read_in_kernel();
	else if (strcmp(what, "many") == 0)
		open_in_kernel(path);
}

#else

static void start(const char *what, const char *path)
{
	(void)what;
	(void)path;
	exit(9);
}

#endif

/* Returns the number behind NAME in /proc/self/status, or -1. */
static int number_of_status(const char *name)
{
	FILE *const status = fopen("/proc/self/status", "r");
	char line[256];
	int number = -1;

	while (status && number < 0 && fgets(line, sizeof(line), status))
		if (strncmp(line, name, strlen(name)) == 0)
			number = atoi(line + strlen(name));
	if (status)
		fclose(status);
	return number;
}

static NOINLINE void lose(void)
{
	*(volatile char *)malloc(1001) = 1;
}

int main(int argc, char **argv)
{
	int waiting;

	lose();
	start(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
	/* Before Linux 5.12 the threads are no part of the process. */
	for (int tries = 0; number_of_status("Threads:") < threads_wanted; tries++) {
		if (tries == 100)
			exit(9);
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	clear_stack();
	raise(SIGUSR1);
	/* Of all processes of the user. */
	waiting = number_of_status("SigQ:");
	for (int i = 1; i < DUMPS; i++)
		raise(SIGUSR1);
	if (number_of_status("SigQ:") - waiting >= DUMPS - 1)
		return 2;
	printf("done\n");
	return 0;
}
