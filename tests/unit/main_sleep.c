/* main_sleep.c - a signal of the process comes while a park (wrap/reach/park.h) holds all threads.
 * The kernel would give it to the main thread, whose sleep it would end.  This sleep ends, though
 * other threads, which go on to sleep, may take the signal.
 * sources: wrap/reach/park.c wrap/unwind/stack_bounds.c wrap/base/thread.c wrap/port/linux*.c */
#include "wrap/port/port.h"
#include "wrap/reach/park.h"
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 100, SLEEPERS = 4, LOOKS = 5, MILLISECONDS = 10000 };

static atomic_int begun, ended; /* sleeps of the main thread */

static void do_nothing(int signo)
{
	(void)signo;
}

static void *sleep_for_ever(void *unused)
{
	for (;;)
		poll(NULL, 0, -1);
	return unused;
}

static void wait_a_moment(void)
{
	static const struct timespec moment = {.tv_nsec = 1000000};

	nanosleep(&moment, NULL);
}

static void await_sleep(int round)
{
	for (unsigned looks = 0; looks < LOOKS; looks++) {
		wait_a_moment();
		if (atomic_load(&begun) != round || leakwrap_thread_kernel_state(getpid()) != 'S')
			looks = 0;
	}
}

static void *park(void *unused)
{
	struct leakwrap_mask before;

	for (int round = 1; round <= ROUNDS; round++) {
		await_sleep(round);
		leakwrap_signals_block(&before);
		CHECK(leakwrap_park() == 0);
		kill(getpid(), SIGTERM);
		leakwrap_unpark();
		leakwrap_signals_restore(&before);
		for (int i = 0; i < MILLISECONDS && atomic_load(&ended) != round; i++)
			wait_a_moment();
		CHECK(atomic_load(&ended) == round);
	}
	return unused;
}

/* ThreadSanitizer has a thread that cannot be parked. */
int main(void)
{
#ifndef __SANITIZE_THREAD__
	const struct sigaction action = {.sa_handler = do_nothing};
	pthread_t thread;

	sigaction(SIGTERM, &action, NULL);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_create(&thread, NULL, sleep_for_ever, NULL);
	pthread_create(&thread, NULL, park, NULL);
	for (int round = 1; round <= ROUNDS; round++) {
		atomic_store(&begun, round);
		poll(NULL, 0, -1);
		atomic_store(&ended, round);
	}
	pthread_join(thread, NULL);
#else
	(void)do_nothing, (void)sleep_for_ever, (void)park;
#endif
	return 0;
}
