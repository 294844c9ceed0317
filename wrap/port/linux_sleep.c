/* linux_sleep.c - the Linux port: system calls in which other threads sleep.
 *
 * After a handler the kernel restarts some system calls (SA_RESTART), and lets the others return
 * EINTR (signal(7), "Interruption of system calls and library functions").  Most of the others can
 * be made again as if nothing had happened: those without a limit of time, those whose limit is a
 * point in time, and those to which the program has given the same place for the time and for the
 * remaining time.
 *
 * The number of the interrupted call is overwritten by its result.  So the thread that sends the
 * signal reads the number before.  The handler compares the rest of the call with the registers.
 */
#include "wrap/port/linux.h"

#include "wrap/arch/arch.h"
#include "wrap/port/linux_filter.h"

#ifdef LEAKWRAP_CALL_REGISTERS

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

/* When a call can be made again.  ARGUMENT is the number of one of its arguments, from 0. */
enum when {
	ALWAYS,
	IF_NEGATIVE,  /* ARGUMENT is an int: milliseconds */
	IF_NULL,      /* ARGUMENT is the address of the time */
	IF_REMAINING, /* ARGUMENT is the address of the time, and the next of the remaining time */
	IF_ABSOLUTE,  /* ARGUMENT has flags: a point in time, or IF_REMAINING for the next */
	IF_UNTIL,     /* ARGUMENT is a futex operation, perhaps the one with a point in time */
	IF_QUEUE      /* ARGUMENT tells which call of System V's it is */
};

/* No mask of signals is argument 0. */
enum { NO_MASK = 0 };

struct rule {
	long call;
	unsigned argument;
	enum when when;
	unsigned mask; /* the number of an argument that must be NULL: a mask of signals */
};

/* A signal of the program may come right before ours, and end the call itself: its handler returns
 * to the end of the call when our handler begins.  Made again, the call does not end.  To the
 * program it is as if its signal had come right before the call, which can always happen.  A mask
 * rules that out, so a call with a mask of signals is not made again.  Nor is pause, which nothing
 * but a signal ends. */
static const struct rule rules[] = {
        {__NR_poll, 2, IF_NEGATIVE, NO_MASK},
        {__NR_ppoll, 2, IF_NULL, 3},
        {__NR_pselect6, 4, IF_NULL, 5},
        {__NR_epoll_wait, 3, IF_NEGATIVE, NO_MASK},
        {__NR_epoll_pwait, 3, IF_NEGATIVE, 4},
        {__NR_rt_sigtimedwait, 2, IF_NULL, NO_MASK},
        {__NR_nanosleep, 0, IF_REMAINING, NO_MASK},
        {__NR_clock_nanosleep, 1, IF_ABSOLUTE, NO_MASK},
        {__NR_futex, 1, IF_UNTIL, NO_MASK},
        {__NR_io_getevents, 4, IF_NULL, NO_MASK},
#ifdef __NR__newselect
        {__NR__newselect, 4, IF_NULL, NO_MASK}, /* __NR_select has its arguments in memory */
#else
        {__NR_select, 4, IF_NULL, NO_MASK},
#endif
#ifdef __NR_epoll_pwait2
        {__NR_epoll_pwait2, 3, IF_NULL, 4},
#endif
#ifdef __NR_msgsnd
        {__NR_msgsnd, 0, ALWAYS, NO_MASK},
        {__NR_msgrcv, 0, ALWAYS, NO_MASK},
#endif
#ifdef __NR_semop
        {__NR_semop, 0, ALWAYS, NO_MASK},
#endif
#ifdef __NR_semtimedop
        {__NR_semtimedop, 3, IF_NULL, NO_MASK},
#endif
#ifdef __NR_ipc
        {__NR_ipc, 0, IF_QUEUE, NO_MASK},
#endif
#ifdef __NR_futex_time64
        {__NR_ppoll_time64, 2, IF_NULL, 3},
        {__NR_pselect6_time64, 4, IF_NULL, 5},
        {__NR_rt_sigtimedwait_time64, 2, IF_NULL, NO_MASK},
        {__NR_clock_nanosleep_time64, 1, IF_ABSOLUTE, NO_MASK},
        {__NR_futex_time64, 1, IF_UNTIL, NO_MASK},
        {__NR_semtimedop_time64, 3, IF_NULL, NO_MASK},
#endif
};

/* How many words leakwrap_sleep has. */
#define WORDS (sizeof(((struct leakwrap_sleep *)0)->complements) / sizeof(uintptr_t))

/* Linux, uapi/linux/futex.h: the operation without its flags, and that whose time is a point. */
#define FUTEX_OPERATION   0x7fu
#define FUTEX_WAIT_BITSET 9u

/* Linux, uapi/linux/ipc.h: the calls that sleep, without the version in the upper bits.  Only the
 * last has a time, whose address is the last argument. */
#define IPC_CALL       0xffffu
#define IPC_SEMOP      1u
#define IPC_MSGSND     11u
#define IPC_MSGRCV     12u
#define IPC_SEMTIMEDOP 4u
#define IPC_TIME       5u

static bool is_queue_without_time(uintptr_t number, uintptr_t time)
{
	switch (number & IPC_CALL) {
	case IPC_SEMOP:
	case IPC_MSGSND:
	case IPC_MSGRCV:
		return true;
	case IPC_SEMTIMEDOP:
		return time == 0;
	default:
		return false;
	}
}

static bool is_allowed(const struct rule *rule, const uintptr_t *arguments)
{
	const uintptr_t *const argument = &arguments[rule->argument];

	if (rule->mask != NO_MASK && arguments[rule->mask] != 0)
		return false;
	switch (rule->when) {
	case ALWAYS:
		return true;
	case IF_NEGATIVE:
		return (int)*argument < 0;
	case IF_NULL:
		return *argument == 0;
	case IF_REMAINING:
		return argument[0] == argument[1];
	case IF_ABSOLUTE:
		return (*argument & TIMER_ABSTIME) != 0 || argument[1] == argument[2];
	case IF_UNTIL:
		return (*argument & FUTEX_OPERATION) == FUTEX_WAIT_BITSET;
	case IF_QUEUE:
		return is_queue_without_time(*argument, arguments[IPC_TIME]);
	}
	return false;
}

/* Returns whether CALL with these ARGUMENTS can be made again as if nothing had happened.  The
 * program may have installed a filter while the thread slept, which forbids the call. */
static bool is_repeatable(long call, const uintptr_t *arguments)
{
	long copies[6];

	for (unsigned i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		copies[i] = (long)arguments[i];
	for (unsigned i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].call == call)
			return is_allowed(&rules[i], arguments) &&
			       !leakwrap_filters_forbid(call, copies);
	return false;
}

/* The signals that each C library keeps for itself: 32 and 33.  musl's handler of pthread_cancel
 * lets no other signal in, so ours comes when it returns.  It has ended the call then, and leaves
 * its signal pending and blocked: the thread looks whether it is cancelled when the call returns
 * EINTR (musl 1.2, src/thread/pthread_cancel.c). */
#define LIBRARY_SIGNALS ((uint64_t)3 << 31)

/* Returns whether a signal of the program comes when the handler with CONTEXT returns, or one of
 * the C library waits.  Then the call must return EINTR. */
static bool has_signal(const ucontext_t *context)
{
	const uint64_t own = (uint64_t)1 << (leakwrap_park_signal() - 1);
	uint64_t pending = 0, blocked;

	memcpy(&blocked, &context->uc_sigmask, sizeof(blocked));
	return leakwrap_syscall(__NR_rt_sigpending, (long)&pending, KERNEL_SIGSET_SIZE, 0, 0, 0,
	                        0) != 0 ||
	       (pending & (~blocked | LIBRARY_SIGNALS) & ~own) != 0;
}

bool leakwrap_sleep_resume(const struct leakwrap_sleep *sleep, void *context)
{
	static const int registers[] = {LEAKWRAP_CALL_REGISTERS};
	ucontext_t *const interrupted = context;
	uintptr_t words[WORDS];

	if (sleep->call < 0 || (int)interrupted->LEAKWRAP_CONTEXT_RESULT != -EINTR)
		return false;
	for (unsigned i = 0; i < WORDS; i++) {
		words[i] = (uintptr_t)interrupted->uc_mcontext.gregs[registers[i]];
		if (words[i] != ~sleep->complements[i])
			return false; /* the thread has gone on since */
	}
	if (!is_repeatable(sleep->call, words) || has_signal(interrupted))
		return false;
	interrupted->LEAKWRAP_CONTEXT_PC -= LEAKWRAP_CALL_SIZE;
	interrupted->LEAKWRAP_CONTEXT_RESULT = sleep->call;
	return true;
}

/* Reads " 0xNUMBER" at *LINE, and moves *LINE behind it.  Returns 0 if there is something else. */
static uintptr_t read_word(const char **line)
{
	if (strncmp(*line, " 0x", 3) != 0)
		return 0;
	*line += 3;
	return leakwrap_read_hex(line);
}

/* The line is "running", or the call's number, its arguments, the stack pointer and the program
 * counter (proc(5), /proc/PID/syscall).  The number is -1 outside of a call. */
void leakwrap_thread_read_sleep(int thread, struct leakwrap_sleep *sleep)
{
	char text[256];
	const char *line = text;

	*sleep = (struct leakwrap_sleep){.call = -1};
	leakwrap_read_of_thread(thread, "syscall", text, sizeof(text));
	if (*line < '0' || *line > '9')
		return;
	for (sleep->call = 0; *line >= '0' && *line <= '9'; line++)
		sleep->call = sleep->call * 10 + (*line - '0');
	for (unsigned i = 0; i < WORDS; i++)
		sleep->complements[i] = ~read_word(&line);
}

#else

bool leakwrap_sleep_resume(const struct leakwrap_sleep *sleep, void *context)
{
	(void)sleep;
	(void)context;
	return false;
}

void leakwrap_thread_read_sleep(int thread, struct leakwrap_sleep *sleep)
{
	(void)thread;
	sleep->call = -1;
}

#endif
