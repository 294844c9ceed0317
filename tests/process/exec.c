/* exec.c FUNCTION PROGRAM - ignores SIGUSR1, fails one exec, and executes PROGRAM by FUNCTION. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *function = argv[1], *program = argv[2];
	char *const arguments[] = {argv[2], "an argument", NULL};
	char *const environment[] = {"NAME=value", NULL};

	if (argc != 3)
		return 2;
	signal(SIGUSR1, SIG_IGN);
	if (execv("/nowhere/at all", arguments) != -1 || errno != ENOENT)
		return 3;
	raise(SIGUSR1); /* dumps, and does nothing else */
	if (signal(SIGUSR1, SIG_IGN) != SIG_IGN)
		return 4;
	if (strcmp(function, "execv") == 0)
		execv(program, arguments);
	if (strcmp(function, "execve") == 0)
		execve(program, arguments, environment);
	if (strcmp(function, "execvp") == 0)
		execvp(program, arguments);
	if (strcmp(function, "execvpe") == 0)
		execvpe(program, arguments, environment);
	if (strcmp(function, "fexecve") == 0)
		fexecve(open(program, O_RDONLY), arguments, environment);
	if (strcmp(function, "execveat") == 0)
#if defined __GLIBC__ && !__GLIBC_PREREQ(2, 34)
		execve(program, arguments, environment);
#else
		execveat(AT_FDCWD, program, arguments, environment, 0);
#endif
	if (strcmp(function, "execl") == 0)
		execl(program, program, "an argument", NULL);
	if (strcmp(function, "execlp") == 0)
		execlp(program, program, "an argument", NULL);
	if (strcmp(function, "execle") == 0)
		execle(program, program, "an argument", NULL, environment);
	if (strcmp(function, "vfork") == 0 && vfork() == 0) {
		execv(program, arguments);
		_exit(6);
	}
	if (strcmp(function, "vfork") == 0) {
		raise(SIGUSR1);
		return 0;
	}
	return 5;
}
