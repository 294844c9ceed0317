/* linux_fork.c - see linux_fork.h. */
#define _FILE_OFFSET_BITS 64 /* 64-bit file sizes, also on 32-bit systems */
#include "wrap/port/linux_fork.h"

#include "wrap/port/linux.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux, uapi/linux/sched.h. */
#ifndef CLONE_PARENT
#define CLONE_PARENT 0x8000
#endif

void *leakwrap_file_map_shared(const char *path, size_t least)
{
	const int saved = errno, fd = (int)leakwrap_open(path, O_RDWR | O_CLOEXEC, 0);
	const uint64_t size = fd >= 0 ? leakwrap_file_size(fd) : 0;
	void *mapped = MAP_FAILED;

	if (size >= least && size <= SIZE_MAX)
		mapped = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		leakwrap_close(fd);
	errno = saved;
	return mapped == MAP_FAILED ? NULL : mapped;
}

/* -- what a child shares ----------------------------------------------------------------------- */

/* Returns why a child cannot share FD, or NULL. */
static const char *descriptor_obstacle(int fd)
{
	struct stat status;
	const long flags = leakwrap_fcntl(fd, F_GETFL, 0);

	if (fstat(fd, &status) != 0)
		return NULL;
	if (S_ISCHR(status.st_mode))
		return NULL;
	if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
		return (flags & O_ACCMODE) == O_RDONLY ? NULL : "a file is open for writing";
	return S_ISFIFO(status.st_mode)   ? "a pipe is open"
	       : S_ISSOCK(status.st_mode) ? "a socket is open"
	                                  : "a device or an event descriptor is open";
}

/* Sets *OBSTACLE, and ends the visits when there is one. */
static bool check_descriptor(void *obstacle, int fd, int folder)
{
	const char **const found = obstacle;

	*found = fd == folder ? NULL : descriptor_obstacle(fd);
	return !*found;
}

static bool check_thread(void *obstacle, int thread, int folder)
{
	const char **const found = obstacle;

	(void)folder;
	*found = thread == leakwrap_thread_id() ? NULL : "the program has several threads";
	return !*found;
}

const char *leakwrap_fork_obstacle(void)
{
	const int saved = errno;
	const char *obstacle = NULL;

	if (!leakwrap_folder_each_number("/proc/self/task", check_thread, &obstacle) ||
	    (!obstacle &&
	     !leakwrap_folder_each_number("/proc/self/fd", check_descriptor, &obstacle)))
		obstacle = "/proc cannot be read";
	errno = saved;
	return obstacle;
}

/* -- the fork ---------------------------------------------------------------------------------- */

long leakwrap_fork_sibling(void)
{
	const long pid = leakwrap_syscall(__NR_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0, 0);

	if (pid == 0) {
		leakwrap_syscall(__NR_setpgid, 0, 0, 0, 0, 0, 0);
		leakwrap_syscall(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
	}
	return pid;
}

/* Opens the file of FD again, if it is a file or a folder, but not FOLDER. */
static bool separate_descriptor(void *context, int fd, int folder)
{
	char path[32] = "/proc/self/fd/";
	struct stat status;
	int again;

	(void)context;
	if (fd == folder || fstat(fd, &status) != 0 ||
	    !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return true;
	leakwrap_append_number(path, (unsigned)fd);
	again = (int)leakwrap_open(path, (int)leakwrap_fcntl(fd, F_GETFL, 0) | O_CLOEXEC, 0);
	if (again >= 0) {
		const long flags = leakwrap_fcntl(fd, F_GETFD, 0);

		lseek(again, lseek(fd, 0, SEEK_CUR), SEEK_SET);
		leakwrap_syscall(__NR_dup3, again, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0);
		leakwrap_close(again);
	}
	return true;
}

void leakwrap_fork_separate_files(void)
{
	const int saved = errno;

	leakwrap_folder_each_number("/proc/self/fd", separate_descriptor, NULL);
	errno = saved;
}
