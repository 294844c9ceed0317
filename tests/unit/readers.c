/* readers.c - readers.c and thread_memory.c in wrap/base: a grace is over when all readers from
 * before it have left, or their threads have ended.
 *
 * A signal handler comes at each instruction of an entry and a leave. It enters itself, or leaves
 * by siglongjmp. That is for x86-64, which can stop at each instruction.
 * sources: wrap/base/readers.c wrap/base/thread_memory.c wrap/base/thread.c wrap/port/linux*.c
 * sources: wrap/base/options.c wrap/base/loss.c
 * flags: -Wl,--wrap=leakwrap_pages_map */
#include "wrap/base/readers.h"
#include "wrap/base/thread.h"
#include "wrap/port/port.h"
#include "unit.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/noinline.h"

void *__real_leakwrap_pages_map(size_t size);
void *__wrap_leakwrap_pages_map(size_t size);

static _Atomic bool fails;
static _Atomic unsigned failures;

void *__wrap_leakwrap_pages_map(size_t size)
{
	if (!atomic_load(&fails))
		return __real_leakwrap_pages_map(size);
	atomic_fetch_add(&failures, 1);
	return NULL;
}

/* Tells the tracer's thread where its stack is, as the runtime does. */
static void know_own_stack(void)
{
	char here;

	leakwrap_self.stack_high = (uintptr_t)&here + 65536;
	leakwrap_self.stack_room = 1 << 20;
}

static bool is_over_now(void)
{
	struct leakwrap_grace grace;

	leakwrap_grace_begin(&grace);
	return leakwrap_grace_is_over(&grace);
}

/* -- one thread -------------------------------------------------------------------------------- */

static void enter_and_leave(void)
{
	struct leakwrap_grace before, inside, after;
	enum leakwrap_readers_entry entered, nested;

	CHECK(is_over_now());
	leakwrap_grace_begin(&before);
	entered = leakwrap_readers_enter();
	CHECK(leakwrap_grace_is_over(&before)); /* it entered later */
	leakwrap_grace_begin(&inside);
	nested = leakwrap_readers_enter();
	leakwrap_readers_leave(nested);
	CHECK(!leakwrap_grace_is_over(&inside));
	leakwrap_readers_leave(entered);
	leakwrap_grace_begin(&after);
	entered = leakwrap_readers_enter();
	CHECK(leakwrap_grace_is_over(&inside)); /* it has left, and entered again */
	CHECK(leakwrap_grace_is_over(&after));
	leakwrap_readers_leave(entered);
}

/* -- a signal handler at each instruction ------------------------------------------------------ */

#if defined __x86_64__ && !defined __SANITIZE_THREAD__

#define TRAP_FLAG 0x100

static unsigned steps, signal_at;
static bool goes_away;
static sigjmp_buf away;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (++steps != signal_at)
		return;
	leakwrap_readers_leave(leakwrap_readers_enter());
	if (!goes_away)
		return;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	siglongjmp(away, 1);
}

#define STEP()    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc")
#define NO_STEP() __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc")

/* Enters and leaves, a trap after each instruction of both. */
static NOINLINE void step_through(void)
{
	char below[4096];
	enum leakwrap_readers_entry entered;
	struct leakwrap_grace grace;

	__asm__ volatile("" : : "r"(below) : "memory");
	steps = 0;
	STEP();
	entered = leakwrap_readers_enter();
	NO_STEP();
	leakwrap_grace_begin(&grace);
	CHECK(!leakwrap_grace_is_over(&grace));
	STEP();
	leakwrap_readers_leave(entered);
	NO_STEP();
	CHECK(leakwrap_grace_is_over(&grace));
}

static void interrupt_each_step(bool with_jump)
{
	const struct sigaction action = {.sa_sigaction = on_trap,
	                                 .sa_flags = SA_SIGINFO | SA_NODEFER};
	unsigned last;

	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	goes_away = with_jump;
	signal_at = 0;
	step_through();
	last = steps;
	CHECK(last > 30 && last < 5000);
	for (signal_at = 1; signal_at <= last; signal_at++) {
		if (sigsetjmp(away, 1) == 0)
			step_through();
		/* The thread enters again, higher on its stack. */
		leakwrap_readers_leave(leakwrap_readers_enter());
		CHECK(is_over_now());
	}
}

#else

static void interrupt_each_step(bool with_jump)
{
	(void)with_jump;
}

#endif

/* -- a signal handler higher on the stack ------------------------------------------------------ */

static void on_signal(int number)
{
	(void)number;
	leakwrap_readers_leave(leakwrap_readers_enter());
}

static NOINLINE void interrupt_inside(void)
{
	const enum leakwrap_readers_entry entered = leakwrap_readers_enter();
	struct leakwrap_grace grace;

	CHECK(raise(SIGUSR1) == 0);
	leakwrap_grace_begin(&grace);
	CHECK(!leakwrap_grace_is_over(&grace));
	leakwrap_readers_leave(entered);
	CHECK(leakwrap_grace_is_over(&grace));
}

/* The alternate stack is a variable of a function that calls the reader. */
static void interrupt_on_variable(void)
{
	char memory[65536 - 8192];
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	stack_t before;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(sigaltstack(&stack, &before) == 0);
	interrupt_inside();
	CHECK(sigaltstack(&before, NULL) == 0);
}

/* -- threads ----------------------------------------------------------------------------------- */

enum { THREADS = 150 };

static _Atomic unsigned inside, may_leave;

static void *stay_inside(void *unused)
{
	const enum leakwrap_readers_entry entered = leakwrap_readers_enter();

	atomic_fetch_add(&inside, 1);
	while (atomic_load(&may_leave) == 0)
		usleep(1000);
	leakwrap_readers_leave(entered);
	return unused;
}

static void wait_until_inside(unsigned count)
{
	while (atomic_load(&inside) < count)
		usleep(1000);
}

/* Each thread counts, whoever leaves first. */
static void many_threads(void)
{
	pthread_t thread[THREADS];
	struct leakwrap_grace grace;

	atomic_store(&inside, 0);
	atomic_store(&may_leave, 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, stay_inside, NULL) == 0);
	wait_until_inside(THREADS);
	leakwrap_grace_begin(&grace);
	CHECK(!leakwrap_grace_is_over(&grace));
	atomic_store(&may_leave, 1);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK(leakwrap_grace_is_over(&grace));
}

static void *leave_and_stay(void *unused)
{
	leakwrap_readers_leave(leakwrap_readers_enter());
	atomic_fetch_add(&inside, 1);
	while (atomic_load(&may_leave) == 0)
		usleep(1000);
	return unused;
}

/* So many threads have the memory that there is that none is left for one more.  It counts, too. */
static void one_without_memory(void)
{
	pthread_t thread[THREADS], one;
	struct leakwrap_grace grace;

	atomic_store(&fails, true);
	atomic_store(&inside, 0);
	atomic_store(&may_leave, 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, leave_and_stay, NULL) == 0);
	wait_until_inside(THREADS);
	CHECK(atomic_load(&failures) > 0 && is_over_now());
	CHECK(pthread_create(&one, NULL, stay_inside, NULL) == 0);
	wait_until_inside(THREADS + 1);
	leakwrap_grace_begin(&grace);
	CHECK(!leakwrap_grace_is_over(&grace));
	atomic_store(&may_leave, 1);
	pthread_join(one, NULL);
	CHECK(leakwrap_grace_is_over(&grace));
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&fails, false);
}

static void *never_leave(void *unused)
{
	leakwrap_readers_enter();
	return unused;
}

/* The kernel may still know the thread for a moment after it was joined. */
static void end_inside(void)
{
	pthread_t thread;
	struct leakwrap_grace grace;

	CHECK(pthread_create(&thread, NULL, never_leave, NULL) == 0);
	pthread_join(thread, NULL);
	leakwrap_grace_begin(&grace);
	for (unsigned i = 0; i < 1000 && !leakwrap_grace_is_over(&grace); i++)
		usleep(1000);
	CHECK(leakwrap_grace_is_over(&grace));
}

/* -- fork -------------------------------------------------------------------------------------- */

/* The child has no other thread, and goes on inside if it was. */
static void fork_inside(void)
{
	const enum leakwrap_readers_entry entered = leakwrap_readers_enter();
	pthread_t thread;
	pid_t child;
	int status;

	atomic_store(&inside, 0);
	atomic_store(&may_leave, 0);
	CHECK(pthread_create(&thread, NULL, stay_inside, NULL) == 0);
	wait_until_inside(1);
	child = fork();
	if (child == 0) {
		struct leakwrap_grace grace;

		leakwrap_readers_reset_in_child();
		leakwrap_grace_begin(&grace);
		CHECK(!leakwrap_grace_is_over(&grace));
		leakwrap_readers_leave(entered);
		CHECK(leakwrap_grace_is_over(&grace));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	atomic_store(&may_leave, 1);
	pthread_join(thread, NULL);
	CHECK(!is_over_now());
	leakwrap_readers_leave(entered);
	CHECK(is_over_now());
}

int main(void)
{
	know_own_stack();
	enter_and_leave();
	interrupt_each_step(false);
	interrupt_each_step(true);
	interrupt_on_variable();
	one_without_memory();
	many_threads();
	end_inside();
	fork_inside();
	return 0;
}
