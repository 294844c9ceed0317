/* backtrace.c - compares leakwrap_backtrace and leakwrap_return_address with the C library's
 * backtrace(): at any depth, in threads and in signal handlers. */
#include "leakwrap.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/noinline.h"

#define MAX 200

static int checked;

/* The signal comes from raise, so calls are safe.
 * NOLINTBEGIN(bugprone-signal-handler,cert-sig30-c) */
static void expect(int right, const char *what)
{
	if (!right)
		printf("wrong: %s\n", what);
	checked += right;
}

static NOINLINE void check(void)
{
	void *got[MAX], *wanted[MAX], *first[3];
	size_t count = leakwrap_backtrace(got, MAX);
	int wanted_count = backtrace(wanted, MAX); /* frame 0 is in this function */

	expect((int)count == wanted_count - 1, "how many");
	expect(memcmp(got, wanted + 1, count * sizeof(*got)) == 0, "the addresses");
	expect(leakwrap_backtrace(first, 3) == 3 && memcmp(first, got, sizeof(first)) == 0,
	       "the first three");
	expect(leakwrap_backtrace(first, 0) == 0, "none");
	for (unsigned level = 0; level < count; level++)
		expect(leakwrap_return_address(level) == got[level], "a level");
	expect(leakwrap_return_address((unsigned)count) == NULL, "behind the last level");
}
/* NOLINTEND(bugprone-signal-handler,cert-sig30-c) */

static NOINLINE void recurse(int levels)
{
	if (levels > 0)
		recurse(levels - 1);
	else
		check();
	__asm__ volatile("");
}

static void on_signal(int number)
{
	(void)number;
	check();
	recurse(3);
}

static void *in_thread(void *argument)
{
	recurse(10);
	raise(SIGUSR2);
	return argument;
}

int main(void)
{
	pthread_t thread;

	signal(SIGUSR2, on_signal);
	recurse(0);
	recurse(5);
	recurse(100);
	raise(SIGUSR2);
	if (pthread_create(&thread, NULL, in_thread, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 1;
	printf("%d checked\n", checked);
	return 0;
}
