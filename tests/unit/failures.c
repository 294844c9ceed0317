/* failures.c - a dump on a signal comes between any two instructions of a thread that notes a
 * failure (wrap/fail/fail.c).  It finds the failure whole, or not at all.  For x86-64, which can
 * stop at each instruction.
 * sources: wrap/fail/fail.c wrap/base/options.c wrap/port/linux*.c */
#include "wrap/fail/fail.h"
#include "wrap/fail/identity.h"
#include "wrap/fail/plan.h"
#include "wrap/base/site_number.h"
#include "wrap/site/site_read.h"
#include "one_module.h"
#include "unit.h"

#include <signal.h>

/* -- what the test does not need --------------------------------------------------------------- */

uint64_t leakwrap_site_identity(uint32_t site)
{
	return site;
}

void leakwrap_site_read(uint32_t number, struct leakwrap_trace *trace)
{
	(void)number, (void)trace;
}

bool leakwrap_plan_start(long (*fork)(void))
{
	return fork != NULL;
}

bool leakwrap_plan_fork(uint64_t identity, uint32_t hit)
{
	return identity == hit;
}

const struct leakwrap_module *leakwrap_module_ever_at(uintptr_t address)
{
	return leakwrap_module_at(address);
}

/* -- stepping ---------------------------------------------------------------------------------- */

enum { SIZE = 77, SITE = LEAKWRAP_SITE_FIRST + 5 };

/* Looks as a dump does.  Returns how many failures there are. */
static unsigned look(void)
{
	struct leakwrap_failure failure;
	unsigned count = 0;

	for (; leakwrap_failure_read(count, &failure); count++)
		CHECK(failure.site == SITE && failure.size == SIZE);
	return count;
}

#if defined __x86_64__ && !defined __SANITIZE_THREAD__

static unsigned steps;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	steps++;
	look();
}

static void note_in_steps(void)
{
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	leakwrap_fail_note(SITE, SIZE);
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
	CHECK(steps > 10);
}

#else

static void note_in_steps(void)
{
	leakwrap_fail_note(SITE, SIZE);
}

#endif

/* Only the first failures are kept. */
static void note_many(void)
{
	for (unsigned i = 1; i <= LEAKWRAP_FAILURES_KEPT + 3; i++) {
		leakwrap_fail_note(SITE, SIZE);
		CHECK(look() == (i < LEAKWRAP_FAILURES_KEPT ? i : LEAKWRAP_FAILURES_KEPT));
	}
	CHECK(leakwrap_failures_count() == LEAKWRAP_FAILURES_KEPT + 3);
}

int main(void)
{
	note_in_steps();
	CHECK(look() == 1);
	leakwrap_fail_reset_in_child();
	CHECK(look() == 0);
	note_many();
	return 0;
}
