/* fork_pass.c - one run of the program that forks a child for each attempt, see engine.h.
 *
 *   tool ──► plan (a file that both map) ──► program ──► child for each attempt
 *     ▲                                                        │ is a child of the tool, too
 *     └──────────────── its end, its log ──────────────────────┘
 */
#include "tools/base/clock.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/table.h"
#include "tools/torture/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report/torture_plan.h"

/* How often the tool looks for new children, in nanoseconds. */
#define OFTEN (UINT64_C(20) * 1000000)

/* A fork pass.  Attempt I is entry I of the plan. */
struct pass {
	struct engine *engine;
	struct leakwrap_plan *plan;
	size_t size; /* bytes of the plan */
	struct attempt **attempts;
	bool *adopted;
	size_t count;
	bool is_running; /* the program itself */
};

static int by_identity(const void *a, const void *b)
{
	const struct attempt *x = *(struct attempt *const *)a, *y = *(struct attempt *const *)b;

	if (x->site->identity != y->site->identity)
		return x->site->identity < y->site->identity ? -1 : 1;
	return x->hit < y->hit ? -1 : x->hit > y->hit;
}

/* Makes the file PATH, and maps it. */
static struct leakwrap_plan *map_plan(const char *path, size_t size)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	void *mapped = MAP_FAILED;

	/* A sparse file on a full disk would end the program with SIGBUS. */
	if (fd >= 0 && (errno = posix_fallocate(fd, 0, (off_t)size)) == 0)
		mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		die("%s: %s", path, strerror(errno));
	close(fd);
	return mapped;
}

/* Fills PASS and its plan with the attempts that are not done. */
static void make_plan(struct pass *pass, const char *path)
{
	struct torture *torture = pass->engine->torture;

	pass->attempts = xmalloc((torture->attempt_count + 1) * sizeof *pass->attempts);
	for (size_t i = 0; i < torture->attempt_count; i++)
		if (!torture->attempts[i].done)
			pass->attempts[pass->count++] = &torture->attempts[i];
	qsort(pass->attempts, pass->count, sizeof *pass->attempts, by_identity);
	pass->adopted = xzalloc(pass->count + 1);
	pass->size = sizeof *pass->plan + pass->count * sizeof pass->plan->entry[0];
	pass->plan = map_plan(path, pass->size);
	*pass->plan = (struct leakwrap_plan){.magic = LEAKWRAP_PLAN_MAGIC,
	                                     .count = (uint32_t)pass->count,
	                                     .tool = getpid(),
	                                     .jobs = pass->engine->jobs};
	for (size_t i = 0; i < pass->count; i++)
		pass->plan->entry[i] =
		        (struct leakwrap_plan_entry){.identity = pass->attempts[i]->site->identity,
		                                     .hit = (uint32_t)pass->attempts[i]->hit};
}

/* Counts the new children among the processes of the runner. */
static void adopt_children(struct pass *pass)
{
	for (size_t i = 0; i < pass->count; i++) {
		const struct leakwrap_plan_entry *entry = &pass->plan->entry[i];

		if (pass->adopted[i] ||
		    __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) != LEAKWRAP_PLAN_FORKED)
			continue;
		pass->adopted[i] = true;
		runner_adopt(pass->engine->runner, entry->pid, entry->started, pass->attempts[i]);
	}
}

/* Returns the log of the child PID. */
static const char *child_log(struct engine *engine, pid_t pid)
{
	return arena_format(&engine->arena, "%s/fork-%d.log", engine->state->folder, (int)pid);
}

/* Tells the program that a child has ended.  It forks again while the tool looks at the child. */
static void count_down(struct pass *pass)
{
	__atomic_fetch_sub(&pass->plan->running, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, &pass->plan->running, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Takes the end of a child. */
static void take_child(struct pass *pass, struct attempt *attempt, const struct ended *ended)
{
	struct engine *engine = pass->engine;
	const char *log = attempt_log(&engine->arena, engine->state, attempt);

	count_down(pass);
	attempt->forked = true;
	unlink(log);
	rename(child_log(engine, ended->pid), log);
	finish_attempt(engine, attempt, ended, log);
}

/* Takes the end of a process that the tool has not adopted yet.  It may be a child, or what a
 * program has left running. */
static void take_unknown(struct pass *pass, struct ended *ended)
{
	for (size_t i = 0; i < pass->count; i++) {
		const struct leakwrap_plan_entry *entry = &pass->plan->entry[i];

		if (pass->adopted[i] || entry->pid != ended->pid)
			continue;
		pass->adopted[i] = true;
		ended->ns = monotonic_ns() - entry->started;
		take_child(pass, pass->attempts[i], ended);
		return;
	}
}

/* Returns for how many failures the program did not fork because of OBSTACLE. */
static size_t count_refused(const struct pass *pass, const char *obstacle)
{
	size_t count = 0;

	for (size_t i = 0; i < pass->count; i++)
		count += pass->plan->entry[i].state == LEAKWRAP_PLAN_REFUSED &&
		         strcmp(pass->plan->entry[i].obstacle, obstacle) == 0;
	return count;
}

/* Remembers the most frequent reason why the program did not fork, if there was none before. */
static void find_obstacle(struct pass *pass)
{
	struct torture *torture = pass->engine->torture;
	size_t most = 0;

	if (torture->why_not_forks)
		return;
	for (size_t i = 0; i < pass->count && most <= pass->count / 2; i++) {
		const struct leakwrap_plan_entry *entry = &pass->plan->entry[i];
		size_t count;

		if (entry->state != LEAKWRAP_PLAN_REFUSED)
			continue;
		count = count_refused(pass, entry->obstacle);
		if (count <= most)
			continue;
		most = count;
		torture->why_not_forks = intern_text(&torture->report.strings, entry->obstacle);
	}
}

bool fork_pass(struct engine *engine)
{
	const char *path = state_path(&engine->arena, engine->state, "plan");
	const char *log = state_path(&engine->arena, engine->state, "fork-%p.log");
	struct pass pass = {.engine = engine, .is_running = true};
	struct runner *runner = engine->runner;
	struct ended ended;

	make_plan(&pass, path);
	const char *rule =
	        arena_format(&engine->arena, "plan=%s%s", path, engine->sticky ? ",sticky" : "");
	const uint64_t limit = runner->limit;
	runner->limit = limit * (pass.count + 1); /* it waits for its children */
	const pid_t program =
	        runner_run(runner, engine->torture->argv, run_options(engine, log, rule), &pass);
	runner->limit = limit;
	runner->spared = program;
	while ((pass.is_running || runner->count > 0) && !runner->stopped) {
		adopt_children(&pass);
		if (runner_wait(runner, OFTEN, &ended)) {
			if (ended.context == &pass)
				pass.is_running = false;
			else if (ended.context)
				take_child(&pass, ended.context, &ended);
			else
				take_unknown(&pass, &ended);
		}
		if (!pass.is_running)
			adopt_children(&pass);
		progress("%zu failures tried by forks, %zu findings", count_done(engine->torture),
		         engine->torture->finding_count);
	}
	kill(-program, SIGKILL);
	runner->spared = 0;
	find_obstacle(&pass);
	unlink(child_log(engine, program));
	unlink(path);
	munmap(pass.plan, pass.size);
	free(pass.attempts);
	free(pass.adopted);
	progress_done();
	return !runner->stopped;
}
