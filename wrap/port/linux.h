/* linux.h - what the files of the Linux port share: system calls, signal masks, and waits with
 * priority.  Only they include it.
 *
 * System calls go to the kernel directly (linux_call.h): no cancellation point, no lock, and errno
 * does not change.
 */
#ifndef LEAKWRAP_LINUX_H
#define LEAKWRAP_LINUX_H

#include "wrap/port/port.h"

#include <fcntl.h>
#include <string.h>
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
 * errno value for an error, as the kernel does: -EPERM if a filter of the program would end the
 * process (linux_filter.h). */
long leakwrap_syscall(long number, long a, long b, long c, long d, long e, long f);

/* Appends NUMBER in decimal to PATH, which has room for 10 digits more. */
static inline void leakwrap_append_number(char *path, unsigned number)
{
	char digits[11], *first = digits + sizeof(digits) - 1;

	*first = '\0';
	do {
		*--first = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	strcat(path, first);
}

/* Reads a hexadecimal number without "0x" at *TEXT, and moves *TEXT behind it. */
static inline uintptr_t leakwrap_read_hex(const char **text)
{
	uintptr_t value = 0;

	for (;; (*text)++) {
		const char c = **text;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* Reads the file NAME of /proc/self/task/THREAD into TEXT, which has room for SIZE bytes, as far as
 * it fits, and ends it by NUL.  TEXT is empty if there is no such file.  NAME has at most 16
 * characters. */
void leakwrap_read_of_thread(int thread, const char *name, char *text, size_t size);

/* Changes the mask of this thread by MASK, as HOW (SIG_* of the kernel) says.  Sets *BEFORE for
 * leakwrap_signals_restore. */
void leakwrap_signals_change(int how, const struct leakwrap_mask *mask,
                             struct leakwrap_mask *before);

/* In a forked child, whose only thread has changed its mask by BEFORE alone: forgets the masks that
 * other threads of the parent have changed. */
void leakwrap_signals_forget_others(const struct leakwrap_mask *before);

/* Waits until WORD, which holds the id of a thread or 0, holds the id of this thread, at most
 * NANOSECONDS.  The other thread runs with this thread's priority meanwhile.  Returns whether it
 * holds this thread's id now. */
bool leakwrap_wait_with_priority(_Atomic uint32_t *word, uint64_t nanoseconds);

/* Sets WORD, for which threads may wait by leakwrap_wait_with_priority, to the id of such a thread
 * or to 0.  Returns false if WORD does not hold the id of this thread. */
bool leakwrap_release_with_priority(_Atomic uint32_t *word);

/* Returns whether the calling thread runs before all threads of ordinary priority (sched(7)). */
bool leakwrap_thread_is_realtime(void);

/* Does what leakwrap_wake does, but wakes at most one waiting thread. */
void leakwrap_wake_one(_Atomic uint32_t *word);

#endif
