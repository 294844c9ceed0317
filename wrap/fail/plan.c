/* plan.c - see plan.h. */
#include "wrap/fail/plan.h"

#include "report/torture_plan.h"
#include "wrap/base/options.h"
#include "wrap/port/linux_fork.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* How long the process sleeps until it looks again whether the tool is still there, in
 * nanoseconds.  The tool wakes it when a child has ended. */
#define POLL_NS 20000000u

static struct {
	struct leakwrap_plan *shared; /* NULL: there is none, or it is over */
	long (*fork)(void);
} plan;

bool leakwrap_plan_start(long (*fork)(void))
{
	struct leakwrap_plan *shared =
	        leakwrap_file_map_shared(leakwrap_options.fail.plan, sizeof(struct leakwrap_plan));

	plan.fork = fork;
	if (shared && shared->magic == LEAKWRAP_PLAN_MAGIC)
		plan.shared = shared;
	return plan.shared != NULL;
}

/* Returns the entry for allocation HIT at the call site IDENTITY, or NULL.  Entries are sorted. */
static struct leakwrap_plan_entry *find_entry(uint64_t identity, uint32_t hit)
{
	struct leakwrap_plan_entry *entry = plan.shared->entry;
	size_t low = 0, high = plan.shared->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (entry[middle].identity < identity ||
		    (entry[middle].identity == identity && entry[middle].hit < hit))
			low = middle + 1;
		else
			high = middle;
	}
	return low < plan.shared->count && entry[low].identity == identity && entry[low].hit == hit
	               ? &entry[low]
	               : NULL;
}

/* Waits until fewer children run than the plan allows.  Returns false if the tool has gone. */
static bool wait_for_room(void)
{
	uint32_t running;

	while ((running = __atomic_load_n(&plan.shared->running, __ATOMIC_ACQUIRE)) >=
	       plan.shared->jobs) {
		if (leakwrap_process_has_lost_parent(plan.shared->tool))
			return false;
		leakwrap_wait_shared(&plan.shared->running, running, POLL_NS);
	}
	return !leakwrap_process_has_lost_parent(plan.shared->tool);
}

/* Notes in ENTRY why the process does not fork. */
static void refuse(struct leakwrap_plan_entry *entry, const char *why)
{
	strncpy(entry->obstacle, why, sizeof(entry->obstacle) - 1);
	__atomic_store_n(&entry->state, LEAKWRAP_PLAN_REFUSED, __ATOMIC_RELEASE);
}

/* Tells the tool that the child PID has got the failure of ENTRY.  Parent and child both do so:
 * either may end before the other has run. */
static void announce_child(struct leakwrap_plan_entry *entry, int pid)
{
	entry->pid = pid;
	__atomic_store_n(&entry->state, LEAKWRAP_PLAN_FORKED, __ATOMIC_RELEASE);
}

/* In the child: chooses the failure, and forgets the plan. */
static void begin_child(struct leakwrap_plan_entry *entry)
{
	struct leakwrap_fail_rule *rule = &leakwrap_options.fail;

	announce_child(entry, leakwrap_process_id());
	plan.shared = NULL;
	rule->choice = LEAKWRAP_FAIL_SITE;
	rule->site = entry->identity;
	rule->number = entry->hit;
	leakwrap_fork_separate_files();
}

bool leakwrap_plan_fork(uint64_t identity, uint32_t hit)
{
	struct leakwrap_plan_entry *entry = plan.shared ? find_entry(identity, hit) : NULL;
	struct leakwrap_mask before;
	const char *obstacle;
	long pid;

	if (!entry || __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) != LEAKWRAP_PLAN_WANTED)
		return false;
	obstacle = leakwrap_fork_obstacle();
	if (obstacle || !wait_for_room()) {
		refuse(entry, obstacle ? obstacle : "the tool does not run the program itself");
		return false;
	}
	leakwrap_signals_block(&before);
	__atomic_fetch_add(&plan.shared->running, 1, __ATOMIC_ACQ_REL);
	entry->started = leakwrap_time_monotonic();
	pid = plan.fork();
	if (pid == 0) {
		begin_child(entry);
	} else if (pid > 0) {
		announce_child(entry, (int)pid);
	} else {
		__atomic_fetch_sub(&plan.shared->running, 1, __ATOMIC_ACQ_REL);
		refuse(entry, "the system does not let it fork");
	}
	leakwrap_signals_restore(&before);
	return pid == 0;
}
