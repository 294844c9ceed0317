/* linux_files.c - the Linux port: files. */
#define _FILE_OFFSET_BITS 64 /* 64-bit file sizes, also on 32-bit systems */
#include "wrap/port/linux.h"

#include "wrap/port/linux_filter.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* Constants that old headers lack (Linux, uapi/linux/fcntl.h). */
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#define CLOSE_ON_EXEC 1 /* MFD_CLOEXEC (memfd_create(2)) */
/* PowerPC's number has the size of the kernel's struct termios, which no header for programs
 * defines (Linux, arch/powerpc/include/uapi/asm/ioctls.h). */
#ifdef __powerpc__
#undef TCGETS
#define TCGETS 0x402c7413
#endif

long leakwrap_open(const char *path, int flags, int mode)
{
#ifdef __NR_open /* older than openat */
	return leakwrap_syscall(__NR_open, (long)path, flags, mode, 0, 0, 0);
#else
	return leakwrap_syscall(__NR_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
#endif
}

long leakwrap_proc_open(const char *name)
{
	char path[64], program[8];

	/* An emulator of processes (qemu) knows /proc/self alone. */
	strcpy(path, leakwrap_read_link("/proc/self/exe", program, sizeof(program)) > 0
	                     ? "/proc/self/"
	                     : "/proc/thread-self/");
	strcat(path, name);
	return leakwrap_open(path, O_RDONLY | O_CLOEXEC, 0);
}

int leakwrap_memory_file(void)
{
#ifdef __NR_memfd_create
	return (int)leakwrap_syscall(__NR_memfd_create, (long)"leakwrap", CLOSE_ON_EXEC, 0, 0, 0,
	                             0);
#else
	return -ENOSYS;
#endif
}

long leakwrap_close(int fd)
{
	return leakwrap_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
}

long leakwrap_rename(const char *from, const char *to)
{
#ifdef __NR_renameat
	return leakwrap_syscall(__NR_renameat, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
#else
	return leakwrap_syscall(__NR_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
#endif
}

long leakwrap_read_link(const char *path, char *target, size_t size)
{
	return leakwrap_syscall(__NR_readlinkat, AT_FDCWD, (long)path, (long)target, (long)size, 0,
	                        0);
}

/* The kernel's path of a folder that is not below the root folder begins with a word in parentheses
 * (getcwd(3), "C library/kernel differences"). */
bool leakwrap_current_folder(char *folder, size_t size)
{
	return leakwrap_syscall(__NR_getcwd, (long)folder, (long)size, 0, 0, 0, 0) > 0 &&
	       folder[0] == '/';
}

bool leakwrap_lock_file(int fd)
{
	return leakwrap_syscall(__NR_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0) == 0;
}

long leakwrap_read(int fd, void *buffer, size_t size)
{
	return leakwrap_syscall(__NR_read, fd, (long)buffer, (long)size, 0, 0, 0);
}

long leakwrap_write(int fd, const void *bytes, size_t size)
{
	return leakwrap_syscall(__NR_write, fd, (long)bytes, (long)size, 0, 0, 0);
}

long leakwrap_fcntl(int fd, int command, long argument)
{
#ifdef __NR_fcntl64
	return leakwrap_syscall(__NR_fcntl64, fd, command, argument, 0, 0, 0);
#else
	return leakwrap_syscall(__NR_fcntl, fd, command, argument, 0, 0, 0);
#endif
}

/* Does what fstat(2) does.  The C library makes one system call or another for it.  Where a filter
 * forbids one of them, the other is made without the C library: it has the kernel's struct stat on
 * these architectures. */
static bool get_status(int fd, struct stat *status)
{
#if defined __x86_64__ || defined __aarch64__ || (defined __riscv && __riscv_xlen == 64)
	const long by_path[6] = {fd, (long)"", (long)status, AT_EMPTY_PATH};

	if (leakwrap_filters_forbid(__NR_newfstatat, by_path))
		return leakwrap_syscall(__NR_fstat, fd, (long)status, 0, 0, 0, 0) == 0;
	if (leakwrap_filters_forbid(__NR_fstat, (const long[6]){fd, (long)status}))
		return leakwrap_syscall(__NR_newfstatat, by_path[0], by_path[1], by_path[2],
		                        by_path[3], 0, 0) == 0;
#elif defined __NR_fstat64 && defined __NR_fstatat64 && defined __NR_statx
	const long calls[] = {__NR_fstat64, __NR_fstatat64, __NR_statx};

	for (unsigned i = 0; i < 3; i++)
		if (leakwrap_filters_forbid(calls[i], (const long[6]){fd}))
			return false;
#endif
	return fstat(fd, status) == 0;
}

/* Not isatty(3): C libraries ask the kernel in different ways, and a filter may forbid one. */
static bool is_terminal(int fd)
{
	char settings[64]; /* the kernel's struct termios has 36 to 60 bytes */

	return leakwrap_syscall(__NR_ioctl, fd, TCGETS, (long)settings, 0, 0, 0) == 0;
}

bool leakwrap_file_describe(int fd, struct leakwrap_file *file)
{
	int saved = errno;
	struct stat status = {0};
	bool is_open = get_status(fd, &status);
	long flags;

	if (is_open) {
		file->device = status.st_dev;
		file->inode = status.st_ino;
		file->is_terminal = is_terminal(fd);
		file->is_pipe = S_ISFIFO(status.st_mode);
		file->is_regular = S_ISREG(status.st_mode);
		flags = leakwrap_fcntl(fd, F_GETFL, 0);
		file->is_append = flags >= 0 && (flags & O_APPEND) != 0;
	}
	errno = saved;
	return is_open;
}

uint64_t leakwrap_file_size(int fd)
{
	int saved = errno;
	struct stat status = {0};
	uint64_t size = get_status(fd, &status) ? (uint64_t)status.st_size : 0;

	errno = saved;
	return size;
}
