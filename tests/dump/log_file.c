/* log_file.c many|processes|children|ignores - writes dumps in one of four ways. "many": of a
 * thousand call sites. "processes": from several processes at once. "children": from children that
 * the C library's fork does not know, which write no exit dump. "ignores": it hands on a signal
 * that it ignores. */
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leakwrap.h"

static void *volatile kept;

#define ONE     kept = malloc(10);
#define TEN     ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void allocate(void)
{
	HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		exit(3);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	allocate();
	if (strcmp(what, "processes") == 0) {
		for (int i = 0; i < 6; i++)
			fork();
		for (int i = 0; i < 3; i++)
			leakwrap_dump(-1);
		while (wait(NULL) > 0)
			;
	}
	if (strcmp(what, "children") == 0) {
		pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

		if (child == 0)
			exit(0);
		wait_for(child);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
		child = _Fork();
		if (child == 0)
			exit(0);
		wait_for(child);
#endif
	}
	if (strcmp(what, "ignores") == 0) {
		char *arguments[] = {"grep", "SigIgn", "/proc/self/status", NULL};
		pid_t child;

		signal(SIGUSR1, SIG_IGN);
		if (posix_spawnp(&child, "grep", NULL, NULL, arguments, environ) != 0)
			return 2;
		wait_for(child);
		execvp("grep", arguments);
		return 2;
	}
	return 0;
}
