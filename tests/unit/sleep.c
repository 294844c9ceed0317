/* sleep.c - which system calls an interrupted thread makes again.
 *
 * sources: wrap/port/linux*.c wrap/base/loss.c */
#include "tests/unit/unit.h"
#include "wrap/arch/arch.h"
#include "wrap/port/linux_filter.h"
#include "wrap/port/port.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef LEAKWRAP_CALL_REGISTERS

static const int registers[] = {LEAKWRAP_CALL_REGISTERS};

enum { WORDS = sizeof(registers) / sizeof(*registers), SP = 0x7000, PC = 0x4000 };

static ucontext_t context;

static struct leakwrap_sleep make(long call, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	return (struct leakwrap_sleep){
	        call,
	        {~a, ~b, ~c, ~d, ~(uintptr_t)0, ~(uintptr_t)0, ~(uintptr_t)SP, ~(uintptr_t)PC}};
}

/* Has SLEEP interrupted, with the signals of BLOCKED blocked outside.  Returns whether the thread
 * makes the call again. */
static bool resume(const struct leakwrap_sleep *sleep, const sigset_t *blocked)
{
	memset(&context, 0, sizeof(context));
	for (unsigned i = 0; i < WORDS; i++) {
		const uintptr_t word = ~sleep->complements[i];

		context.uc_mcontext.gregs[registers[i]] = (greg_t)word;
	}
	context.LEAKWRAP_CONTEXT_RESULT = -EINTR;
	context.uc_sigmask = *blocked;
	if (!leakwrap_sleep_resume(sleep, &context)) {
		CHECK(context.LEAKWRAP_CONTEXT_PC == PC);
		CHECK((int)context.LEAKWRAP_CONTEXT_RESULT == -EINTR);
		return false;
	}
	CHECK(context.LEAKWRAP_CONTEXT_PC == PC - LEAKWRAP_CALL_SIZE);
	CHECK(context.LEAKWRAP_CONTEXT_RESULT == sleep->call);
	return true;
}

static bool is_made_again(long call, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	const struct leakwrap_sleep sleep = make(call, a, b, c, d);
	sigset_t none;

	sigemptyset(&none);
	return resume(&sleep, &none);
}

static void check_calls(void)
{
	const uintptr_t forever = 0xffffffff;

	CHECK(is_made_again(__NR_poll, 1, 1, forever, 0));
	CHECK(!is_made_again(__NR_poll, 1, 1, 1000, 0));
	CHECK(is_made_again(__NR_epoll_wait, 1, 1, 1, forever));
	CHECK(!is_made_again(__NR_epoll_wait, 1, 1, 1, 1000));
	CHECK(is_made_again(__NR_rt_sigtimedwait, 1, 1, 0, 0));
	CHECK(!is_made_again(__NR_rt_sigtimedwait, 1, 1, 1, 0));
	CHECK(is_made_again(__NR_nanosleep, 16, 16, 0, 0));
	CHECK(!is_made_again(__NR_nanosleep, 16, 0, 0, 0));
	CHECK(is_made_again(__NR_clock_nanosleep, 0, TIMER_ABSTIME, 16, 0));
	CHECK(is_made_again(__NR_clock_nanosleep, 0, 0, 16, 16));
	CHECK(!is_made_again(__NR_clock_nanosleep, 0, 0, 16, 32));
	CHECK(is_made_again(__NR_futex, 16, 0x189, 0, 16)); /* FUTEX_WAIT_BITSET with flags */
	CHECK(!is_made_again(__NR_futex, 16, 0x80, 0, 16)); /* FUTEX_WAIT */
	CHECK(is_made_again(__NR_ppoll, 1, 1, 0, 0));
	CHECK(!is_made_again(__NR_ppoll, 1, 1, 16, 0));
	CHECK(!is_made_again(__NR_ppoll, 1, 1, 0, 16));
	CHECK(is_made_again(__NR_epoll_pwait, 1, 1, 1, forever));
#ifdef __NR_ipc
	CHECK(is_made_again(__NR_ipc, 0x10000 + 12, 1, 1, 0));
	CHECK(!is_made_again(__NR_ipc, 2, 1, 1, 0));
#endif
	CHECK(!is_made_again(__NR_pause, 0, 0, 0, 0));
	CHECK(!is_made_again(__NR_rt_sigsuspend, 16, 8, 0, 0));
	CHECK(!is_made_again(__NR_connect, 0, 0, 0, 0));
	CHECK(!is_made_again(-1, 0, 0, 0, 0));
}

/* A mask is the fifth argument of one call, and the sixth of another. */
static void check_masks(void)
{
	struct leakwrap_sleep sleep = make(__NR_epoll_pwait, 1, 1, 1, 0xffffffff);
	sigset_t none;

	sigemptyset(&none);
	sleep.complements[4] = ~(uintptr_t)16;
	CHECK(!resume(&sleep, &none));
	sleep = make(__NR_pselect6, 1, 16, 0, 0);
	CHECK(resume(&sleep, &none));
	sleep.complements[5] = ~(uintptr_t)16;
	CHECK(!resume(&sleep, &none));
}

/* The program has installed a filter since, and the call would end the process. */
static void check_filter(void)
{
	static const struct leakwrap_filter_step steps[] = {
	        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
	        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_poll},
	        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
	        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
	};
	struct leakwrap_filter *const filter = calloc(1, sizeof(*filter) + sizeof(steps));

	memcpy(filter->steps, steps, sizeof(steps));
	filter->count = sizeof(steps) / sizeof(*steps);
	leakwrap_filters_add(filter, getpid());
	CHECK(!is_made_again(__NR_poll, 1, 1, 0xffffffff, 0));
	CHECK(is_made_again(__NR_ppoll, 1, 1, 0, 0));
	leakwrap_filters_withdraw(filter);
}

/* The thread has gone on since its call was read. */
static void check_other_calls(void)
{
	const struct leakwrap_sleep sleep = make(__NR_poll, 1, 2, 0xffffffff, 4);
	sigset_t none;

	sigemptyset(&none);
	for (unsigned i = 0; i < WORDS; i++) {
		CHECK(resume(&sleep, &none));
		context.LEAKWRAP_CONTEXT_PC = PC;
		context.LEAKWRAP_CONTEXT_RESULT = -EINTR;
		context.uc_mcontext.gregs[registers[i]]++;
		CHECK(!leakwrap_sleep_resume(&sleep, &context));
	}
	CHECK(resume(&sleep, &none));
	context.LEAKWRAP_CONTEXT_PC = PC;
	context.LEAKWRAP_CONTEXT_RESULT = 0;
	CHECK(!leakwrap_sleep_resume(&sleep, &context));
}

/* A signal that comes when the handler returns must end the call. */
static void check_signals(void)
{
	const struct leakwrap_sleep sleep = make(__NR_poll, 1, 1, 0xffffffff, 0);
	sigset_t none, some;

	sigemptyset(&none);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR2);
	sigprocmask(SIG_BLOCK, &some, NULL);
	CHECK(resume(&sleep, &none));
	raise(SIGUSR2);
	CHECK(!resume(&sleep, &none));
	CHECK(resume(&sleep, &some)); /* it stays blocked */
}

/* So must one of the C library that stays blocked: the thread is cancelled when the call ends. */
static void check_cancellation(void)
{
	const struct leakwrap_sleep sleep = make(__NR_poll, 1, 1, 0xffffffff, 0);
	const int signo = leakwrap_park_signal() == 32 ? 33 : 32;
	const uint64_t bits = (uint64_t)1 << (signo - 1) | (uint64_t)1 << (SIGUSR2 - 1);
	sigset_t some;

	sigemptyset(&some);
	memcpy(&some, &bits, sizeof(bits));
	CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &bits, NULL, sizeof(bits)) == 0);
	CHECK(resume(&sleep, &some));
	CHECK(syscall(SYS_tgkill, getpid(), getpid(), signo) == 0);
	CHECK(!resume(&sleep, &some));
}

int main(void)
{
	check_calls();
	check_masks();
	check_other_calls();
	check_filter();
	check_signals();
	check_cancellation();
	return 0;
}

#else

int main(void)
{
	ucontext_t context;
	const struct leakwrap_sleep sleep = {.call = __NR_rt_sigsuspend};

	memset(&context, 0, sizeof(context));
	CHECK(!leakwrap_sleep_resume(&sleep, &context));
	return 0;
}

#endif
