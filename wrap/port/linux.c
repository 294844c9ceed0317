/* linux.c - the Linux port: system calls, signals, time, waiting.  Other files of this folder hold
 * the rest. */
#include "wrap/port/linux.h"

#include "wrap/port/linux_call.h"
#include "wrap/port/linux_filter.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

/* A constant that old headers lack (Linux, uapi/linux/time.h). */
#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME 7
#endif

/* The kernel's SIG_SETMASK.  <signal.h> is not included: its sigset_t is not the kernel's. */
#ifdef __mips__
#define SIG_SETMASK_KERNEL 3
#else
#define SIG_SETMASK_KERNEL 2
#endif

/* FUTEX_WAIT and FUTEX_WAKE with FUTEX_PRIVATE_FLAG (futex(2)): for memory that other processes do
 * not share.  musl has no header for them. */
#define WAIT_PRIVATE (0 | 128)
#define WAKE_PRIVATE (1 | 128)
#define WAIT_SHARED  0

/* Likewise FUTEX_LOCK_PI and FUTEX_UNLOCK_PI: the word holds the id of the thread that has it. */
#define LOCK_PI_PRIVATE   (6 | 128)
#define UNLOCK_PI_PRIVATE (7 | 128)

/* The kernel's struct timespec in the system calls below: two longs.  32-bit systems that are newer
 * than these calls have only the calls with 64-bit time. */
#ifdef __NR_futex
struct kernel_time {
	long seconds, nanoseconds;
};
#ifdef __NR_clock_gettime32 /* musl's name on 32-bit systems */
#define CLOCK_GETTIME __NR_clock_gettime32
#else
#define CLOCK_GETTIME __NR_clock_gettime
#endif
#define FUTEX           __NR_futex
#define PPOLL           __NR_ppoll
#define PSELECT         __NR_pselect6
#define RT_SIGTIMEDWAIT __NR_rt_sigtimedwait
#else
struct kernel_time {
	int64_t seconds, nanoseconds;
};
#define CLOCK_GETTIME   __NR_clock_gettime64
#define FUTEX           __NR_futex_time64
#define PPOLL           __NR_ppoll_time64
#define PSELECT         __NR_pselect6_time64
#define RT_SIGTIMEDWAIT __NR_rt_sigtimedwait_time64
#endif

/* Out of line: without a filter the array does not lie on the stack. */
static __attribute__((noinline)) bool is_forbidden(long number, long a, long b, long c, long d,
                                                   long e, long f)
{
	return leakwrap_filters_forbid(number, (const long[6]){a, b, c, d, e, f});
}

long leakwrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (leakwrap_filters_are_there() && is_forbidden(number, a, b, c, d, e, f))
		return -EPERM;
	return leakwrap_call_kernel(number, a, b, c, d, e, f);
}

/* -- signals ----------------------------------------------------------------------------------- */

/* Masks that threads have changed and not restored yet. */
static _Atomic uint32_t changed_masks;

/* First counts, and then asks the filters, in sequential order: leakwrap_filter_enter adds a filter
 * first, and then looks at the count. */
void leakwrap_signals_change(int how, const struct leakwrap_mask *mask,
                             struct leakwrap_mask *before)
{
	/* What the kernel does not fill must not be an old word of the stack.  The mask may be kept
	 * in a lock, and the word may lead to a block that is lost. */
	before->bits[0] = before->bits[1] = 0;
	atomic_fetch_add(&changed_masks, 1);
	before->is_to_restore = leakwrap_syscall(__NR_rt_sigprocmask, how, (long)mask, (long)before,
	                                         KERNEL_SIGSET_SIZE, 0, 0) == 0;
	if (!before->is_to_restore)
		atomic_fetch_sub(&changed_masks, 1);
}

void leakwrap_signals_block(struct leakwrap_mask *before)
{
	const struct leakwrap_mask all = {.bits = {~(uint64_t)0, ~(uint64_t)0}};

	leakwrap_signals_change(SIG_SETMASK_KERNEL, &all, before);
}

/* Asks no filter: leakwrap_filter_enter waits for this call. */
void leakwrap_signals_restore(const struct leakwrap_mask *before)
{
	if (!before->is_to_restore)
		return;
	leakwrap_call_kernel(__NR_rt_sigprocmask, SIG_SETMASK_KERNEL, (long)before, 0,
	                     KERNEL_SIGSET_SIZE, 0, 0);
	atomic_fetch_sub(&changed_masks, 1);
}

void leakwrap_signals_forget_others(const struct leakwrap_mask *before)
{
	atomic_store(&changed_masks, before->is_to_restore);
}

bool leakwrap_signal_pending(int signo)
{
	struct leakwrap_mask waiting = {.bits = {0, 0}};

	leakwrap_syscall(__NR_rt_sigpending, (long)&waiting, KERNEL_SIGSET_SIZE, 0, 0, 0, 0);
	return (waiting.bits[0] >> (signo - 1) & 1) != 0;
}

/* A timeout of zero does not wait (sigtimedwait(2)): the call takes the signal only if it is
 * pending. */
bool leakwrap_signal_discard(int signo, void *info)
{
	struct leakwrap_mask mask = {.bits = {(uint64_t)1 << (signo - 1), 0}};
	const struct kernel_time no_time = {0, 0};

	return leakwrap_syscall(RT_SIGTIMEDWAIT, (long)&mask, (long)info, (long)&no_time,
	                        KERNEL_SIGSET_SIZE, 0, 0) == signo;
}

/* -- time and waiting -------------------------------------------------------------------------- */

/* Reads CLOCK with a system call.  A program that simulates time has its own clock_gettime(), which
 * may lock or stand still. */
static struct kernel_time read_clock(clockid_t clock)
{
	struct kernel_time now = {0, 0};

	leakwrap_syscall(CLOCK_GETTIME, clock, (long)&now, 0, 0, 0, 0);
	return now;
}

/* What the clock last said, in seconds.  A sandbox may forbid to read the clock.  Then each reading
 * adds a millisecond, so that those who wait for a time limit do not wait for ever. */
static _Atomic uintptr_t last_second;

uint64_t leakwrap_time_monotonic(void)
{
	static _Atomic uint32_t looks;
	const struct kernel_time now = read_clock(CLOCK_MONOTONIC);

	if (now.seconds == 0 && now.nanoseconds == 0)
		return (uint64_t)atomic_load(&last_second) * 1000000000u +
		       (uint64_t)atomic_fetch_add(&looks, 1) * 1000000u;
	atomic_store_explicit(&last_second, (uintptr_t)now.seconds, memory_order_relaxed);
	return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}

int64_t leakwrap_time_utc(void)
{
	return read_clock(CLOCK_REALTIME).seconds;
}

uint64_t leakwrap_time_boot(void)
{
	const struct kernel_time now = read_clock(CLOCK_BOOTTIME);

	return (uint64_t)now.seconds * 100 + (uint64_t)now.nanoseconds / 10000000;
}

uint64_t leakwrap_time_left(int64_t seconds, uint32_t nanoseconds, uint64_t start)
{
	const uint64_t second = 1000000000;
	const uint64_t taken = leakwrap_time_monotonic() - start;
	const uint64_t most = UINT64_MAX / second - 1; /* seconds: hundreds of years */
	const uint64_t whole = (uint64_t)seconds < most ? (uint64_t)seconds : most;
	const uint64_t all = whole * second + nanoseconds;

	return all > taken ? all - taken : 0;
}

static struct kernel_time kernel_time(uint64_t nanoseconds)
{
	struct kernel_time time = {0, 0};

	time.seconds = (long)(nanoseconds / 1000000000u);
	time.nanoseconds = (long)(nanoseconds % 1000000000u);
	return time;
}

void leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	const struct kernel_time limit = kernel_time(nanoseconds);

	leakwrap_syscall(FUTEX, (long)word, WAIT_PRIVATE, (long)value, (long)&limit, 0, 0);
}

/* How long an entering thread waits for others: rounds of a millisecond. */
#define ROUNDS_MAX 1000

/* The kernel does not know the filter yet, so the wait asks the earlier filters alone. */
void leakwrap_filter_enter(struct leakwrap_filter *filter, int process)
{
	const struct kernel_time limit = kernel_time(1000000);
	const bool may_wait = !leakwrap_filters_forbid(
	        FUTEX, (const long[6]){(long)&changed_masks, WAIT_PRIVATE});
	uint32_t count;

	leakwrap_filters_add(filter, process);
	if (!may_wait ||
	    !leakwrap_filters_forbid(__NR_rt_sigprocmask, (const long[6]){SIG_SETMASK_KERNEL}))
		return;
	for (unsigned i = 0; i < ROUNDS_MAX && (count = atomic_load(&changed_masks)) > 0; i++)
		leakwrap_call_kernel(FUTEX, (long)&changed_masks, WAIT_PRIVATE, (long)count,
		                     (long)&limit, 0, 0);
}

void leakwrap_wait_shared(const uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	const struct kernel_time limit = kernel_time(nanoseconds);

	leakwrap_syscall(FUTEX, (long)word, WAIT_SHARED, (long)value, (long)&limit, 0, 0);
}

void leakwrap_wake(_Atomic uint32_t *word)
{
	leakwrap_syscall(FUTEX, (long)word, WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

void leakwrap_wake_one(_Atomic uint32_t *word)
{
	leakwrap_syscall(FUTEX, (long)word, WAKE_PRIVATE, 1, 0, 0, 0);
}

/* The limit is a point of time of CLOCK_REALTIME. */
bool leakwrap_wait_with_priority(_Atomic uint32_t *word, uint64_t nanoseconds)
{
	struct kernel_time limit = read_clock(CLOCK_REALTIME);

	nanoseconds += (uint64_t)limit.nanoseconds;
	limit.seconds += (long)(nanoseconds / 1000000000u);
	limit.nanoseconds = (long)(nanoseconds % 1000000000u);
	return leakwrap_syscall(FUTEX, (long)word, LOCK_PI_PRIVATE, 0, (long)&limit, 0, 0) == 0;
}

bool leakwrap_release_with_priority(_Atomic uint32_t *word)
{
	return leakwrap_syscall(FUTEX, (long)word, UNLOCK_PI_PRIVATE, 0, 0, 0, 0) == 0;
}

/* SCHED_DEADLINE and SCHED_RESET_ON_FORK: not in every <sched.h>. */
#define DEADLINE      6
#define RESET_ON_FORK 0x40000000

bool leakwrap_thread_is_realtime(void)
{
	const long policy = leakwrap_syscall(__NR_sched_getscheduler, 0, 0, 0, 0, 0, 0);
	const long plain = policy & ~(long)RESET_ON_FORK;

	return policy > 0 && (plain == SCHED_FIFO || plain == SCHED_RR || plain == DEADLINE);
}

/* Waits until FD can be written to, with select(2), which takes a bit for each descriptor.  For a
 * sandbox that forbids a process to open descriptors: poll(2) refuses every descriptor there. */
static bool select_writable(int fd, uint64_t nanoseconds)
{
	struct kernel_time limit = kernel_time(nanoseconds);
	unsigned long waited[16] = {0};
	const unsigned bits = sizeof(waited[0]) * 8, at = (unsigned)fd;

	if (at >= sizeof(waited) * 8)
		return false;
	waited[at / bits] = 1ul << at % bits;
	return leakwrap_syscall(PSELECT, fd + 1, 0, (long)waited, 0, (long)&limit, 0) == 1;
}

bool leakwrap_wait_writable(int fd, uint64_t nanoseconds)
{
	struct pollfd waited = {.fd = fd, .events = POLLOUT};
	long ready;

#ifdef __NR_poll /* older than ppoll */
	ready = leakwrap_syscall(__NR_poll, (long)&waited, 1, (long)(nanoseconds / 1000000), 0, 0,
	                         0);
#else
	struct kernel_time limit = kernel_time(nanoseconds);

	ready = leakwrap_syscall(PPOLL, (long)&waited, 1, (long)&limit, 0, 0, 0);
#endif
	return ready == -EINVAL ? select_writable(fd, nanoseconds) : ready == 1;
}
