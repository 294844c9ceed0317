/* linux.h - what the parts of the Linux port share: system calls (linux.c), the size of a page
 * (linux_memory.c).  For these and linux_lock.c alone.
 *
 * System calls go through syscall(2), which is not a cancellation point and takes no lock; errno is put back, because the
 * program must not see it change. */
#ifndef LEAKWRAP_LINUX_H
#define LEAKWRAP_LINUX_H

#include "wrap/port/port.h"

#include <fcntl.h>
#include <sys/syscall.h>

/* Old headers lack it.  Descriptors are not open for long. */
#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif

/* sizeof(sigset_t) as the kernel has it (rt_sigprocmask(2), "C library/kernel differences"). */
#ifdef __mips__
#define KERNEL_SIGSET_SIZE 16
#else
#define KERNEL_SIGSET_SIZE 8
#endif

/* The system call NUMBER (__NR_* of <sys/syscall.h>), with the kernel's convention: a negative errno value for an error. */
long leakwrap_syscall(long number, long a, long b, long c, long d, long e, long f);

size_t leakwrap_page_size(void);

/* As leakwrap_wake, but no more than one of those who wait. */
void leakwrap_wake_one(_Atomic uint32_t *word);

#endif
