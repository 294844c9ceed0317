/* rerun.c - one run of the program for each attempt, see engine.h. */
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/torture/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/model/add_log.h"

/* The least time that a run may take, and the multiple of the baseline's time. */
#define LIMIT_LEAST  (UINT64_C(5) * 1000000000)
#define LIMIT_FACTOR 20

/* A file system with less room, in bytes, has none for a dump. */
#define LEAST_ROOM 65536

/* The nanoseconds after which progress is shown if no process has ended meanwhile. */
#define AWHILE (UINT64_C(200) * 1000000)

const char *run_options(struct engine *engine, const char *log, const char *rule)
{
	const char *own = getenv("LEAKWRAP_OPTIONS");

	return arena_format(&engine->arena,
	                    "%s%slog=\"%s\":exit=1:crash=1:misuse=report:children=all:top=0:"
	                    "min_bytes=0:system=0:signal=none:fail=\"%s%s\"",
	                    own ? own : "", own && *own ? ":" : "", log, rule, engine->words);
}

/* Adds the dumps of LOG to the report, if there are any. */
static void add_log(struct engine *engine, const char *log)
{
	struct stat status;

	if (stat(log, &status) == 0 && status.st_size > 0)
		report_add(&engine->torture->report, log);
}

/* Returns whether the file system of the file PATH is full. */
static bool is_full(const char *path)
{
	struct statvfs status;

	return statvfs(path, &status) == 0 && status.f_bavail * status.f_frsize < LEAST_ROOM;
}

/* Ends the torture with a message if a process that has ended by itself could not write its whole
 * dump to LOG.  FIRST: the number of its first dump in the report.  A torture that went on without
 * dumps would find nothing. */
static void check_log(struct engine *engine, const char *log, size_t first,
                      const struct ended *ended)
{
	const struct report *report = &engine->torture->report;
	struct stat status;
	bool is_whole = stat(log, &status) != 0 || status.st_size > 0 || !is_full(log);

	/* The children that a process leaves are killed, and cut their dumps short. */
	for (size_t i = first; i < report->dump_count; i++)
		is_whole &= !report->dumps[i]->damage ||
		            report->dumps[i]->pid != (unsigned long)ended->pid;
	if (is_whole || ended->timed_out || !WIFEXITED(ended->status))
		return;
	runner_end(engine->runner);
	die("%s is cut short: is the disk full?", log);
}

/* -- the run without failures ------------------------------------------------------------------ */

/* Returns the last dump of the baseline, which lists what was reached. */
static const struct dump *find_baseline(const struct report *report)
{
	for (size_t i = report->dump_count; i-- > 0;)
		for (size_t j = 0; j < report->dumps[i]->failure_count; j++)
			if (report->dumps[i]->failures[j].only_reached)
				return report->dumps[i];
	return NULL;
}

/* Ends the tool with a message if a run that ended with STATUS is no baseline. */
static void check_baseline(const struct engine *engine, const struct ended *ended)
{
	const char *program = engine->torture->argv[0];

	if (ended->timed_out)
		die("%s did not end within %s without a failure: --timeout= gives it more time",
		    program, with_unit_of_time(engine->runner->limit));
	if (WIFSIGNALED(ended->status))
		die("%s died of signal %d without a failure", program, WTERMSIG(ended->status));
	if (!engine->torture->baseline && *engine->words && engine->torture->report.dump_count > 0)
		die("no allocation of %s has such a size (--size)", program);
	if (!engine->torture->baseline)
		die("%s has written no dump with call sites: it is not linked with leakwrap, is "
		    "linked with an older leakwrap, or never allocates",
		    program);
	if (engine->torture->report.misuse_count > 0)
		complain("%s misuses its heap without a failure: leakwrap report tells how",
		         program);
}

void run_baseline(struct engine *engine)
{
	struct torture *torture = engine->torture;
	const char *log = state_path(&engine->arena, engine->state, "baseline.log");
	struct ended ended;
	const bool limited = engine->runner->limit != 0;

	unlink(log);
	if (!limited)
		engine->runner->limit = 12 * LIMIT_LEAST;
	progress("running %s without failures", torture->argv[0]);
	runner_run(engine->runner, torture->argv, run_options(engine, log, "list"), torture);
	do {
		if (!runner_wait(engine->runner, 10 * engine->runner->limit, &ended)) {
			runner_end(engine->runner);
			die("interrupted");
		}
	} while (ended.context != torture);
	add_log(engine, log);
	check_log(engine, log, 0, &ended);
	torture->baseline = find_baseline(&torture->report);
	torture->baseline_status = ended.status;
	torture->baseline_ns = ended.ns;
	check_baseline(engine, &ended);
	if (!limited)
		engine->runner->limit = LIMIT_FACTOR * ended.ns > LIMIT_LEAST
		                                ? LIMIT_FACTOR * ended.ns
		                                : LIMIT_LEAST;
}

/* -- attempts ---------------------------------------------------------------------------------- */

size_t count_done(const struct torture *torture)
{
	size_t count = 0;

	for (size_t i = 0; i < torture->attempt_count; i++)
		count += torture->attempts[i].done;
	return count;
}

void finish_attempt(struct engine *engine, struct attempt *attempt, const struct ended *ended,
                    const char *log)
{
	struct torture *torture = engine->torture;
	const size_t dumps = torture->report.dump_count, misuses = torture->report.misuse_count;

	attempt->done = true;
	attempt->status = ended->status;
	attempt->timed_out = ended->timed_out;
	attempt->ns = ended->ns;
	attempt->pid = ended->pid;
	add_log(engine, log);
	check_log(engine, log, dumps, ended);
	if (!judge(torture, attempt, dumps, misuses))
		unlink(log);
	state_add(engine->state, attempt);
}

/* Starts ATTEMPT. */
static void start(struct engine *engine, struct attempt *attempt)
{
	const char *log = attempt_log(&engine->arena, engine->state, attempt);
	const char *rule = arena_format(&engine->arena, "site=%016" PRIx64 ",hit=%" PRIu64 "%s",
	                                attempt->site->identity, attempt->hit,
	                                engine->sticky ? ",sticky" : "");

	unlink(log);
	runner_run(engine->runner, engine->torture->argv, run_options(engine, log, rule), attempt);
}

/* Returns the next attempt that is not done, from *NEXT on, or NULL. */
static struct attempt *next_attempt(struct torture *torture, size_t *next)
{
	while (*next < torture->attempt_count && torture->attempts[*next].done)
		++*next;
	return *next < torture->attempt_count ? &torture->attempts[(*next)++] : NULL;
}

/* Starts attempts until as many run as may.  Returns whether any runs. */
static bool start_more(struct engine *engine, size_t *next)
{
	struct attempt *attempt;

	while (engine->runner->count < engine->jobs &&
	       (attempt = next_attempt(engine->torture, next)) != NULL)
		start(engine, attempt);
	return engine->runner->count > 0;
}

bool rerun(struct engine *engine)
{
	struct runner *runner = engine->runner;
	struct ended ended;
	size_t next = 0;

	while (!runner->stopped && start_more(engine, &next)) {
		if (runner_wait(runner, AWHILE, &ended) && ended.context)
			finish_attempt(engine, ended.context, &ended,
			               attempt_log(&engine->arena, engine->state, ended.context));
		if (runner->count == 0)
			arena_reset(&engine->arena);
		progress("%zu of %zu failures tried, %zu findings", count_done(engine->torture),
		         engine->torture->attempt_count, engine->torture->finding_count);
	}
	progress_done();
	return !runner->stopped;
}
