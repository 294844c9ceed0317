/* plan.c - a plan of leakwrap torture (wrap/fail/plan.c), with a fork that is made up.  The process
 * forks for the failures that the plan wants, and for no others.  A fork that fails takes no job of
 * the plan, and an entry says why there was none.  A child has files of its own.
 * sources: wrap/fail/plan.c wrap/base/options.c wrap/fail/parse_rule.c wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_fork_obstacle -Wl,--wrap=leakwrap_fork_separate_files */
#include "wrap/fail/plan.h"

#include "report/torture_plan.h"
#include "wrap/base/options.h"
#include "wrap/base/thread.h"
#include "wrap/port/linux_fork.h"
#include "unit.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Thread_local struct leakwrap_thread leakwrap_self;

/* -- what the process may do ------------------------------------------------------------------- */

static const char *obstacle;

const char *__wrap_leakwrap_fork_obstacle(void);

const char *__wrap_leakwrap_fork_obstacle(void)
{
	return obstacle;
}

static unsigned separations;

void __wrap_leakwrap_fork_separate_files(void);

void __wrap_leakwrap_fork_separate_files(void)
{
	separations++;
}

static long pid_of_fork; /* what a fork returns */
static unsigned forks;

static long make_fork(void)
{
	forks++;
	return pid_of_fork;
}

/* -- the plan ---------------------------------------------------------------------------------- */

enum { COUNT = 5, JOBS = 2 };

static struct leakwrap_plan *plan;

static void write_plan(const char *path, uint32_t magic)
{
	static const struct leakwrap_plan_entry entries[COUNT] = {
	        {.identity = 10, .hit = 1}, {.identity = 20, .hit = 1}, {.identity = 20, .hit = 3},
	        {.identity = 20, .hit = 4}, {.identity = 30, .hit = 1},
	};
	const struct leakwrap_plan head = {
	        .magic = magic, .count = COUNT, .tool = getppid(), .jobs = JOBS};
	FILE *const file = fopen(path, "w");

	CHECK(file && fwrite(&head, sizeof(head), 1, file) == 1 &&
	      fwrite(entries, sizeof(entries), 1, file) == 1 && fclose(file) == 0);
}

static void start(void)
{
	char *const path = leakwrap_options.fail.plan;

	snprintf(path, sizeof(leakwrap_options.fail.plan), "/proc/self/fd/%d",
	         memfd_create("plan", 0));
	write_plan(path, LEAKWRAP_PLAN_MAGIC + 1);
	CHECK(!leakwrap_plan_start(make_fork));
	CHECK(!leakwrap_plan_fork(10, 1));
	write_plan(path, LEAKWRAP_PLAN_MAGIC);
	CHECK(leakwrap_plan_start(make_fork));
	plan = leakwrap_file_map_shared(path, sizeof(*plan) + sizeof(plan->entry[0]) * COUNT);
	CHECK(plan);
}

/* Asks for the failure of ENTRY.  The process does not fork, and the plan says why. */
static void refuse(unsigned entry, const char *why)
{
	CHECK(!leakwrap_plan_fork(plan->entry[entry].identity, plan->entry[entry].hit));
	CHECK(plan->entry[entry].state == LEAKWRAP_PLAN_REFUSED && plan->running == 0);
	CHECK(strncmp(plan->entry[entry].obstacle, why, strlen(why)) == 0);
}

int main(void)
{
	struct leakwrap_fail_rule *const rule = &leakwrap_options.fail;

	rule->choice = LEAKWRAP_FAIL_PLAN;
	start();
	CHECK(!leakwrap_plan_fork(9, 1) && !leakwrap_plan_fork(20, 2) &&
	      !leakwrap_plan_fork(30, 2));
	CHECK(forks == 0);

	obstacle = "a pipe";
	refuse(0, "a pipe");
	CHECK(forks == 0);
	obstacle = NULL;
	pid_of_fork = -11;
	refuse(1, "the system");
	CHECK(forks == 1);

	pid_of_fork = 4711;
	CHECK(!leakwrap_plan_fork(20, 3) && forks == 2);
	CHECK(plan->entry[2].state == LEAKWRAP_PLAN_FORKED && plan->entry[2].pid == 4711);
	CHECK(plan->running == 1 && separations == 0);
	/* Each failure has one child. */
	CHECK(!leakwrap_plan_fork(20, 3) && !leakwrap_plan_fork(10, 1) && forks == 2);

	pid_of_fork = 0;
	CHECK(leakwrap_plan_fork(30, 1) && separations == 1);
	CHECK(rule->choice == LEAKWRAP_FAIL_SITE && rule->site == 30 && rule->number == 1);
	/* The child forks no more. */
	CHECK(!leakwrap_plan_fork(20, 4) && forks == 3);
	return 0;
}
