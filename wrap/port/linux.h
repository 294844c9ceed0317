/* linux.h - shared parts of the Linux port: system calls (linux.c) and the page size
 * (linux_memory.c).  Only linux.c, linux_lock.c and linux_memory.c include it.
 *
 * System calls go through syscall(2), which is not a cancellation point and takes no lock.  errno
 * is restored, because the program must not see it change.
 */
#ifndef LEAKWRAP_LINUX_H
#define LEAKWRAP_LINUX_H

#include "wrap/port/port.h"

#include <fcntl.h>
#include <sys/syscall.h>

/* Old headers lack O_CLOEXEC.  Descriptors are not open for long. */
#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif

/* sizeof(sigset_t) as the kernel has it (rt_sigprocmask(2), "C library/kernel differences"). */
#ifdef __mips__
#define KERNEL_SIGSET_SIZE 16
#else
#define KERNEL_SIGSET_SIZE 8
#endif

/* Makes the system call NUMBER (__NR_* of <sys/syscall.h>).  Returns its result, or a negative
 * errno value for an error, as the kernel does. */
long leakwrap_syscall(long number, long a, long b, long c, long d, long e, long f);

/* As leakwrap_wake, but wakes at most one waiting thread. */
void leakwrap_wake_one(_Atomic uint32_t *word);

#endif
