/* timed.c COMMAND... - runs the command and throws its output away. Prints the wall time in
 * nanoseconds, the peak of the largest process's resident memory in bytes, and the processor time
 * of all processes in nanoseconds. */
#include "clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	uint64_t start = now();
	int status;
	pid_t child;

	if (argc < 2)
		return 2;
	child = fork();
	if (child == 0) {
		if (dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0)
			execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		return 1;
	start = now() - start;
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%llu %ld %lld\n", (unsigned long long)start, usage.ru_maxrss * 1024L,
	       (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL +
	               (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL);
	return 0;
}
