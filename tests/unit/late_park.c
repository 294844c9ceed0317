/* late_park.c - a thread that a park (wrap/reach/park.c) did not wait for comes late: while the
 * next park is under way.  And the program uses the signal of the park itself.
 * sources: wrap/reach/park.c wrap/unwind/stack_bounds.c wrap/base/thread.c wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_thread_id -Wl,--wrap=leakwrap_park_signal_send
 * flags: -Wl,--wrap=leakwrap_wait -Wl,--wrap=leakwrap_scratch_unmap
 * flags: -Wl,--wrap=leakwrap_process_is_emulated */
#include "wrap/port/linux_action.h"
#include "wrap/port/port.h"
#include "wrap/reach/park.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ON_ITS_WAY, STOPPED, GOES_ON, HAS_ENDED };
enum { MILLISECONDS = 30000 }; /* the longest wait for the thread */

static _Atomic uint32_t stage; /* of the late thread */
static _Atomic bool stops_in_handler;
static _Atomic int late_thread;
static _Atomic unsigned long rounds; /* of the thread's loop */
static _Atomic bool parks_at_look, has_parked;
static uint64_t began; /* the park */
static unsigned sent;
static bool seems_ended; /* the thread seems to have ended when it gets the signal */

/* Stops this thread until the next park asks it. */
static void stop(void)
{
	atomic_store(&stage, STOPPED);
	while (atomic_load(&stage) == STOPPED)
		leakwrap_wait(&stage, STOPPED, 1000000000);
}

int __real_leakwrap_thread_id(void);
int __wrap_leakwrap_thread_id(void);

/* The park's handler asks for it, between its first look at what goes on and all others. */
int __wrap_leakwrap_thread_id(void)
{
	const int id = __real_leakwrap_thread_id();

	if (id == atomic_load(&late_thread) && atomic_exchange(&stops_in_handler, false))
		stop();
	return id;
}

void __real_leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds);
void __wrap_leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds);

/* A thread that was parked does not go on at once. */
void __wrap_leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	if (word != &stage && __real_leakwrap_thread_id() == atomic_load(&late_thread))
		atomic_store(&has_parked, true);
	__real_leakwrap_wait(word, value, nanoseconds);
	if (__real_leakwrap_thread_id() == atomic_load(&late_thread))
		usleep(5000);
}

long __real_leakwrap_park_signal_send(int thread, int value);
long __wrap_leakwrap_park_signal_send(int thread, int value);

long __wrap_leakwrap_park_signal_send(int thread, int value)
{
	const long error = __real_leakwrap_park_signal_send(thread, value);

	if (++sent == 2) {
		atomic_store(&stage, GOES_ON);
		leakwrap_wake(&stage);
	}
	return seems_ended ? -ESRCH : error;
}

bool __real_leakwrap_process_is_emulated(void);
bool __wrap_leakwrap_process_is_emulated(void);

/* A park asks for it when it begins to look at threads that it misses.  The thread parks now, when
 * a park would give up threads that sleep. */
bool __wrap_leakwrap_process_is_emulated(void)
{
	if (parks_at_look && leakwrap_time_monotonic() - began > 100000000) {
		parks_at_look = false;
		atomic_store(&stage, GOES_ON);
		leakwrap_wake(&stage);
		while (!atomic_load(&has_parked))
			usleep(100);
	}
	return __real_leakwrap_process_is_emulated();
}

static unsigned unmapped; /* tables */

void __real_leakwrap_scratch_unmap(void *memory, size_t size);
void __wrap_leakwrap_scratch_unmap(void *memory, size_t size);

void __wrap_leakwrap_scratch_unmap(void *memory, size_t size)
{
	unmapped++;
	__real_leakwrap_scratch_unmap(memory, size);
}

static void run(void)
{
	while (atomic_load(&stage) != HAS_ENDED)
		atomic_fetch_add(&rounds, 1);
}

static void *stop_in_handler(void *unused)
{
	atomic_store(&stops_in_handler, true);
	atomic_store(&late_thread, __real_leakwrap_thread_id());
	run();
	return unused;
}

static void *stop_with_signals_blocked(void *unused)
{
	struct leakwrap_mask before;

	leakwrap_signals_block(&before);
	atomic_store(&late_thread, __real_leakwrap_thread_id());
	stop();
	leakwrap_signals_restore(&before);
	run();
	return unused;
}

static void check_that_it_stands(void)
{
	const unsigned long before = atomic_load(&rounds);

	usleep(20000);
	CHECK(atomic_load(&rounds) == before);
}

/* Waits until the thread runs.  A busy machine may let it wait for its turn. */
static void check_that_it_runs(void)
{
	const unsigned long before = atomic_load(&rounds);

	for (int i = 0; i < MILLISECONDS && atomic_load(&rounds) == before; i++)
		usleep(1000);
	CHECK(atomic_load(&rounds) != before);
}

/* Starts a thread by START.  A signal too many would end the process, as with other C libraries. */
static void start_thread(pthread_t *thread, void *(*start)(void *))
{
	const struct leakwrap_action none = {.handler = NULL};

	CHECK(pthread_create(thread, NULL, start, NULL) == 0);
	CHECK(leakwrap_action_set(leakwrap_park_signal(), &none, NULL));
	while (atomic_load(&late_thread) == 0)
		;
}

/* The first park does not wait for the thread.  The second finds it, and has asked it twice. */
static void park_late(void *(*start)(void *))
{
	pthread_t thread;

	start_thread(&thread, start);
	CHECK(leakwrap_park() == 1);
	leakwrap_unpark();
	CHECK(unmapped == 0); /* the thread may be about to read them */
	for (unsigned i = 0; i < 2; i++) {
		CHECK(leakwrap_park() == 0);
		check_that_it_stands();
		leakwrap_unpark();
		check_that_it_runs();
		CHECK(unmapped == i + 1);
	}
	atomic_store(&stage, HAS_ENDED);
	pthread_join(thread, NULL);
}

static void park_late_in_handler(void)
{
	park_late(stop_in_handler);
}

static void park_late_with_signals_blocked(void)
{
	park_late(stop_with_signals_blocked);
}

static void *run_only(void *unused)
{
	atomic_store(&late_thread, __real_leakwrap_thread_id());
	run();
	return unused;
}

static unsigned passed_on;

static void count(int signo, void *info, void *context)
{
	(void)info, (void)context;
	passed_on += signo == leakwrap_park_signal();
}

/* The program uses the signal of the park, too. */
static void share_signal(void)
{
	const struct leakwrap_action action = leakwrap_action_of(count, 0, 0);
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, run_only, NULL) == 0);
	while (atomic_load(&late_thread) == 0)
		;
	CHECK(leakwrap_action_set(leakwrap_park_signal(), &action, NULL));
	CHECK(leakwrap_park() == 0);
	CHECK(syscall(SYS_tgkill, getpid(), __real_leakwrap_thread_id(), leakwrap_park_signal()) ==
	      0);
	CHECK(passed_on == 1);
	leakwrap_unpark();
	atomic_store(&stage, HAS_ENDED);
	pthread_join(thread, NULL);
}

/* Parks THREAD, which stands then, and lets it end. */
static void park_and_end(pthread_t thread)
{
	CHECK(leakwrap_park() == 0);
	check_that_it_stands();
	leakwrap_unpark();
	atomic_store(&stage, HAS_ENDED);
	pthread_join(thread, NULL);
}

static void park_one(void)
{
	pthread_t thread;

	start_thread(&thread, run_only);
	park_and_end(thread);
}

/* A thread parks after the park has counted it as missing, and before it looks at the thread. */
static void park_at_look(void)
{
	pthread_t thread;

	start_thread(&thread, stop_in_handler);
	began = leakwrap_time_monotonic();
	parks_at_look = true;
	park_and_end(thread);
}

/* A park that does without a thread lets it run, also if the thread has got the signal. */
static void seem_ended(void)
{
	pthread_t thread;

	start_thread(&thread, run_only);
	seems_ended = true;
	CHECK(leakwrap_park() == 0);
	check_that_it_runs();
	leakwrap_unpark();
	seems_ended = false;
	park_and_end(thread);
}

static void do_in_child(void (*act)(void))
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		act();
		exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(status == 0);
}

/* A thread that was not parked forks meanwhile.  Its child can park threads of its own. */
static void fork_meanwhile(void)
{
	CHECK(leakwrap_park() == 0);
	do_in_child(park_one);
	leakwrap_unpark();
}

/* ThreadSanitizer has a thread that cannot be parked. */
int main(void)
{
#ifndef __SANITIZE_THREAD__
	do_in_child(park_late_in_handler);
	do_in_child(park_late_with_signals_blocked);
	do_in_child(share_signal);
	do_in_child(park_at_look);
	do_in_child(seem_ended);
	fork_meanwhile();
#else
	(void)share_signal, (void)park_at_look, (void)seem_ended, (void)fork_meanwhile,
	        (void)park_late_in_handler, (void)park_late_with_signals_blocked;
#endif
	return 0;
}
