/* where_it_goes.c CASE FILE - changes descriptor 2 in the way CASE, and lists the open descriptors
 * before and after a dump. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void *volatile kept;

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
	int file = -1;

	kept = malloc(321);
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
	list("set up");
	raise(SIGUSR1);
	raise(SIGUSR1);
	list("after");
	return 0;
}
