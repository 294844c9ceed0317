/* system_calls.c FILE - makes system calls by syscall(2): with six arguments, with an error, and
 * one that returns twice.  Returns 0 if each does what it does untraced. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/noinline.h"

/* The offset of mmap2 is in units of 4096 bytes. */
#ifdef SYS_mmap2
#define MAP_CALL  SYS_mmap2
#define MAP_UNITS 4096
#else
#define MAP_CALL  SYS_mmap
#define MAP_UNITS 1
#endif

#define OFFSET 65536 /* whole pages on every machine */

/* The last two of six arguments choose what is mapped. */
static NOINLINE int map_file(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	const char *mapped;

	if (fd < 0 || ftruncate(fd, (off_t)2 * OFFSET) != 0 || pwrite(fd, "behind", 7, OFFSET) != 7)
		return 1;
	mapped = (const char *)syscall(MAP_CALL, NULL, OFFSET, PROT_READ, MAP_PRIVATE, fd,
	                               OFFSET / MAP_UNITS);
	if (mapped == MAP_FAILED || strcmp(mapped, "behind") != 0)
		return 2;
	return munmap((void *)mapped, OFFSET) != 0 ? 3 : 0;
}

static NOINLINE int fail(void)
{
	errno = 0;
	return syscall(SYS_close, -1) != -1 || errno != EBADF ? 4 : 0;
}

/* clone(2) without a stack is fork(2). */
static NOINLINE int fork_by_clone(void)
{
	int status;
	const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (child == 0)
		syscall(SYS_exit_group, 7);
	return waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7
	               ? 5
	               : 0;
}

int main(int argc, char **argv)
{
	char *kept = malloc(100);
	int result = argc > 1 ? map_file(argv[1]) : 6;

	if (result == 0)
		result = fail();
	if (result == 0)
		result = fork_by_clone();
	free(kept);
	return result;
}
