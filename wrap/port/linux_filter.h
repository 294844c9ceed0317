/* linux_filter.h - the seccomp filters that the program has installed (seccomp(2)).
 *
 * Many sandboxes end the process at a system call that they do not know.  The program does not make
 * such a call, but the tracer might.  So the tracer keeps each filter that it sees, and asks it
 * before each system call of its own.  To the tracer a call that would end the process is a call
 * that fails.
 *
 * A filter belongs to one thread and to the threads that this thread starts, or to all threads.
 * Here each filter counts for the whole process.
 */
#ifndef LEAKWRAP_LINUX_FILTER_H
#define LEAKWRAP_LINUX_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instruction of classic BPF (Linux, uapi/linux/filter.h, struct sock_filter). */
struct leakwrap_filter_step {
	uint16_t code;
	uint8_t if_true, if_false;
	uint32_t value;
};

/* A filter as the kernel takes it (struct sock_fprog). */
struct leakwrap_filter_program {
	unsigned short count;
	const struct leakwrap_filter_step *steps;
};

/* A filter that the tracer keeps. */
struct leakwrap_filter {
	struct leakwrap_filter *next;
	_Atomic unsigned count; /* of STEPS; 0: it forbids nothing */
	struct leakwrap_filter_step steps[];
};

/* In the functions below, NULL stands for a filter that is not known.  It forbids all system calls.
 * On an architecture without LEAKWRAP_ELF_MACHINE no filter is known. */

/* Return the name of a system call that FILTER forbids and the tracer needs, or NULL.  The first
 * looks at what the handler of the dump signal needs.  That includes rt_sigprocmask: a thread that
 * holds the tables' lock blocks signals, because the handler may take the lock, too.  The second
 * looks at what a dump needs: to a log of its own if OPENS_LOG is true, else to standard error. */
const char *leakwrap_filter_forbidden_for_handlers(const struct leakwrap_filter *filter);
const char *leakwrap_filter_forbidden_for_dumps(const struct leakwrap_filter *filter,
                                                bool opens_log);

/* Returns whether FILTER forbids what the handler of a crash needs. */
bool leakwrap_filter_forbids_crash_trace(const struct leakwrap_filter *filter);

/* Adds FILTER to those that the tracer asks.  PROCESS, this process, is about to install it. */
void leakwrap_filters_add(struct leakwrap_filter *filter, int process);

/* Adds FILTER as leakwrap_filters_add does.  If it forbids to change a signal mask, then waits
 * until other threads have restored theirs, a second at most: the filter may become theirs, too. */
void leakwrap_filter_enter(struct leakwrap_filter *filter, int process);

/* Removes FILTER, which the kernel has refused.  It must stay in memory: another thread may be
 * asking it. */
void leakwrap_filters_withdraw(struct leakwrap_filter *filter);

/* Returns the process that added the last filter; 0 if none was added. */
int leakwrap_filters_process(void);

/* In the forked child CHILD: makes it the process that leakwrap_filters_process returns, if there
 * is a filter. */
void leakwrap_filters_reset_in_child(int child);

/* Returns whether there is a filter, known or not. */
bool leakwrap_filters_are_there(void);

/* Returns whether a filter would end the process at the system call NUMBER with ARGUMENTS, or, if
 * that is rt_sigprocmask, would let it fail.  leakwrap_syscall asks by itself.  Who calls the C
 * library's function asks first.  Signal-safe. */
bool leakwrap_filters_forbid(long number, const long arguments[6]);

#endif
