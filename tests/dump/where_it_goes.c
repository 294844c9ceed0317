/* where_it_goes.c CASE FILE - changes descriptor 2 in the way CASE, and lists the open descriptors
 * before and after a dump. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leakwrap.h"

static void *volatile kept;

/* What DRAIN reads, and where it writes it. */
static int source, copy;
static atomic_bool is_over;

/* Copies until the other end is closed, or there is nothing more once it is over.  The read of a
 * terminal fails while nobody has it open. */
static void *drain(void *unused)
{
	char bytes[4096];
	ssize_t length;

	fcntl(source, F_SETFL, O_NONBLOCK);
	for (;;) {
		const bool was_over = atomic_load(&is_over);

		length = read(source, bytes, sizeof(bytes));
		if (length > 0 ? write(copy, bytes, (size_t)length) != length : was_over)
			return unused;
		if (length <= 0)
			usleep(1000);
	}
}

/* Opens a terminal, and stores its path in PATH. */
static int open_terminal(char *path, size_t size)
{
	const int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0 ||
	    ptsname_r(terminal, path, size) != 0)
		_exit(77);
	return terminal;
}

/* Makes descriptor 2 the end of a terminal or of a pipe, whose other end goes to FILE. */
static pthread_t drain_stderr(bool is_terminal, const char *file)
{
	char path[64];
	pthread_t thread;
	int end[2];

	if (is_terminal) {
		end[0] = open_terminal(path, sizeof(path));
		end[1] = open(path, O_RDWR | O_NOCTTY);
	} else if (pipe(end) != 0) {
		_exit(1);
	}
	source = end[0];
	copy = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (copy < 0 || dup2(end[1], 2) != 2 || pthread_create(&thread, NULL, drain, NULL) != 0)
		_exit(1);
	return thread;
}

/* Returns a pipe that has no reader. */
static int broken_pipe(void)
{
	int end[2];

	if (pipe(end) != 0)
		_exit(1);
	close(end[0]);
	return end[1];
}

/* A signal of the program's own is pending when the dump's reader has gone.  It stays pending. */
static int keep_pending(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGPIPE);
	if (dup2(broken_pipe(), 2) != 2)
		return 1;
	raise(SIGUSR1);
	return sigpending(&set) != 0 || !sigismember(&set, SIGPIPE);
}

/* A dump is lost.  The next one says so, but not that of a child. */
static int lose_dump(void)
{
	int status = 1;

	if (leakwrap_dump(broken_pipe()) == 0)
		return 1;
	if (fork() == 0)
		_exit(leakwrap_dump(2) != 0);
	if (wait(&status) < 0)
		return 1;
	raise(SIGUSR1);
	return status != 0;
}

/* Lists the open descriptors, except for the descriptor that it reads them from. */
static void list(const char *when)
{
	char link[64], target[256];

	dprintf(STDOUT_FILENO, "%s:", when);
	for (int fd = 0; fd < 64; fd++) {
		ssize_t size;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		size = readlink(link, target, sizeof(target) - 1);
		if (size > 0)
			dprintf(STDOUT_FILENO, " %d", fd);
	}
	dprintf(STDOUT_FILENO, "\n");
}

int main(int argc, char **argv)
{
	const char *test = argc == 3 ? argv[1] : "";
	pthread_t thread = 0;
	int file = -1;

	kept = malloc(321);
	if (strcmp(test, "pending") == 0)
		return keep_pending();
	if (strcmp(test, "lost") == 0)
		return lose_dump();
	list("before");
	if (strcmp(test, "reused") == 0) {
		/* A database file becomes descriptor 2. */
		close(2);
		file = open(argv[2], O_RDWR | O_CREAT, 0600);
		if (file != 2 || write(file, "data", 4) != 4)
			return 1;
	} else if (strcmp(test, "closed") == 0) {
		close(2);
	} else if (strcmp(test, "append") == 0) {
		/* A daemon opens its log as descriptor 2. */
		file = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
		if (dup2(file, 2) != 2)
			return 1;
		close(file);
	} else if (strcmp(test, "sandbox") == 0) {
		/* A sandbox forbids further descriptors. */
		if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}) != 0)
			return 1;
	}
	if (strcmp(test, "terminal") == 0 || strcmp(test, "pipe") == 0)
		thread = drain_stderr(strcmp(test, "terminal") == 0, argv[2]);
	list("set up");
	raise(SIGUSR1);
	raise(SIGUSR1);
	list("after");
	atomic_store(&is_over, true);
	if (thread)
		pthread_join(thread, NULL);
	return 0;
}
