/* torture.c - leakwrap torture: makes each allocation of a program fail, and reports what it does
 * then. */
#include "tools/base/clock.h"
#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/command/commands.h"
#include "tools/command/options.h"
#include "tools/command/settings.h"
#include "tools/model/add_log.h"
#include "tools/torture/engine.h"
#include "tools/torture/torture_report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- arguments --------------------------------------------------------------------------------- */

enum {
	KEY_ENGINE = 0x300,
	KEY_STATE,
	KEY_HITS,
	KEY_STICKY,
	KEY_BELOW,
	KEY_SIZE,
	KEY_TIMEOUT,
	KEY_LIMIT,
	KEY_LEAKS,
};

/* The allocations of a call site that fail. */
struct hits {
	uint64_t *all; /* numbers from 1; LAST_HIT: the last one */
	size_t count, room;
};

enum { LAST_HIT = 0 };

/* In seconds: ten times as many nanoseconds, added to the time, fit 64 bits. */
enum { LONGEST_TIMEOUT = 100000000 };

struct torture_options {
	struct options common;
	enum engine_choice { ENGINE_ANY, ENGINE_FORK, ENGINE_RERUN } engine;
	unsigned jobs;
	const char *state;
	struct hits hits;
	bool sticky, only_handled_leaks;
	struct patterns below;
	const char *size;
	uint64_t timeout; /* in seconds; 0: by the baseline */
	uint64_t limit;   /* the most attempts; 0: all */
	char **argv;      /* the program and its arguments */
};

static const struct argp_option torture_table[] = {
        {0, 0, 0, 0, "What fails, and how it is run:", 1},
        {"hits", KEY_HITS, "LIST", 0,
         "Which allocations of a call site fail, one in each run: numbers, or last (default 1)", 1},
        {"sticky", KEY_STICKY, 0, 0, "All allocations after the first failure fail, too", 1},
        {"below", KEY_BELOW, "PATTERN", 0,
         "Only call sites with a frame whose function, source file or module matches; may be "
         "repeated",
         1},
        {"size", KEY_SIZE, "MIN-MAX", 0, "Only allocations of such sizes, in bytes", 1},
        {"limit", KEY_LIMIT, "N", 0, "At most N failures (default 0: no limit)", 1},
        {"engine", KEY_ENGINE, "NAME", 0,
         "fork: one run that forks for each failure; rerun: a run for each failure (default: fork, "
         "and rerun where the program cannot fork)",
         1},
        {"jobs", 'j', "N", 0, "N processes at a time (default: the number of processors)", 1},
        {"state", KEY_STATE, "DIR", 0,
         "Keep the logs in DIR; a torture that was stopped goes on where it was", 1},
        {"timeout", KEY_TIMEOUT, "SECONDS", 0,
         "A run that takes longer hangs (default 0: 20 times the run without failures, at least 5)",
         1},
        {"leaks", KEY_LEAKS, "WHEN", 0,
         "all (default), or handled: blocks that are lost after an error exit are no leak", 1},
        {0},
};

static void add_hit(struct hits *hits, uint64_t hit)
{
	GROW(hits->all, hits->room, hits->count + 1);
	hits->all[hits->count++] = hit;
}

/* Adds those of LIST, numbers and "last" with commas between them.  Returns false if it is
 * something else. */
static bool add_hits(struct hits *hits, const char *list)
{
	for (bool more = true; more; list++) {
		const size_t length = strcspn(list, ",");
		char word[24];
		uint64_t hit = LAST_HIT;

		if (length >= sizeof word)
			return false;
		memcpy(word, list, length);
		word[length] = '\0';
		if (strcmp(word, "last") != 0 && (!parse_number(word, &hit) || hit == 0))
			return false;
		add_hit(hits, hit);
		list += length;
		more = *list == ',';
	}
	return true;
}

/* Returns the number ARGUMENT of option NAME.  Ends the tool with a message unless it is LEAST to
 * MOST. */
static uint64_t number_between(const struct argp_state *state, const char *name,
                               const char *argument, uint64_t least, uint64_t most)
{
	const uint64_t number = option_size(state, name, argument);

	if (number < least || number > most)
		option_error(state, "--%s=%s: must be a number from %" PRIu64 " to %" PRIu64, name,
		             argument, least, most);
	return number;
}

/* Returns ARGUMENT of the option size, or ends the tool with a message if it is no range. */
static const char *checked_size(const struct argp_state *state, const char *argument)
{
	const char *dash = strchrnul(argument, '-');
	const bool has_least = dash > argument, has_most = dash[0] && dash[1];
	char *least = xstrdup(argument);
	uint64_t from = 0, to = UINT64_MAX;

	least[dash - argument] = '\0';
	if (argument[strspn(argument, "0123456789-")] || (!has_least && !has_most) ||
	    (has_least && !parse_number(least, &from)) ||
	    (has_most && !parse_number(dash + 1, &to)))
		option_error(state, "--size=%s: must be MIN-MAX, MIN-, -MAX or one size", argument);
	if (from > to)
		option_error(state, "--size=%s: MIN is above MAX", argument);
	free(least);
	return argument;
}

static enum engine_choice engine_named(const struct argp_state *state, const char *name)
{
	if (strcmp(name, "fork") == 0)
		return ENGINE_FORK;
	if (strcmp(name, "rerun") != 0)
		option_error(state, "--engine=%s: must be fork or rerun", name);
	return ENGINE_RERUN;
}

static error_t parse_torture(int key, char *argument, struct argp_state *state)
{
	struct torture_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->common;
		break;
	case KEY_ENGINE:
		options->engine = engine_named(state, argument);
		break;
	case 'j':
		options->jobs = (unsigned)number_between(state, "jobs", argument, 1, 4096);
		break;
	case KEY_STATE:
		options->state = option_text(state, "state", argument);
		break;
	case KEY_HITS:
		options->hits.count = 0;
		if (!add_hits(&options->hits, argument))
			option_error(state,
			             "--hits=%s: must be numbers from 1, or last, with commas "
			             "between them",
			             argument);
		break;
	case KEY_STICKY:
		options->sticky = true;
		break;
	case KEY_BELOW:
		add_pattern(&options->below, argument);
		break;
	case KEY_SIZE:
		options->size = checked_size(state, argument);
		break;
	case KEY_TIMEOUT:
		options->timeout = number_between(state, "timeout", argument, 0, LONGEST_TIMEOUT);
		break;
	case KEY_LIMIT:
		options->limit = option_size(state, "limit", argument);
		break;
	case KEY_LEAKS:
		options->only_handled_leaks = strcmp(argument, "handled") == 0;
		if (!options->only_handled_leaks && strcmp(argument, "all") != 0)
			option_error(state, "--leaks=%s: must be all or handled", argument);
		break;
	case ARGP_KEY_ARGS:
		options->argv = state->argv + state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		option_error(state, "no program: leakwrap torture [OPTION...] -- PROGRAM "
		                    "[ARGUMENT...]");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp torture_argp = {
        .options = torture_table,
        .parser = parse_torture,
        .args_doc = "-- PROGRAM [ARGUMENT...]",
        .doc = "Makes an allocation fail at each call site that a traced program reaches, and "
               "reports what the program does then."
               "\vThe program runs once without failures, and then forks or runs again for each "
               "call site.  "
               "Findings are crashes, aborts, other deaths by a signal, hangs, misuse of the heap, "
               "and blocks that are lost at the end, more than without failures.\n\n"
               "Exit status: 0 no finding, 1 findings, 2 usage, or a program that cannot be "
               "tortured.",
        .children = common_options,
};

/* -- what is tried ----------------------------------------------------------------------------- */

/* Returns whether a frame of STACK matches one of PATTERNS. */
static bool is_below(const struct patterns *patterns, const struct stack *stack)
{
	for (unsigned i = 0; i < stack->depth; i++)
		for (unsigned j = 0; j < stack->at[i]->frame_count; j++)
			for (size_t k = 0; k < patterns->count; k++)
				if (frame_matches(patterns->all[k], stack->at[i],
				                  &stack->at[i]->frames[j]))
					return true;
	return false;
}

/* Marks the call sites of the baseline that no pattern of --below= matches.  The functions' names
 * come from a report of their own: the torture's report is symbolized when it has all stacks. */
static void apply_below(struct torture_options *options, struct engine *engine, bool *excluded)
{
	struct report report;

	if (options->below.count == 0)
		return;
	report_start(&report);
	if (report_add(&report, state_path(&engine->arena, engine->state, "baseline.log")))
		symbolize(&report, &options->common.search);
	for (size_t i = 0; i < report.dump_count; i++) {
		const struct dump *dump = report.dumps[i];

		if (dump->pid != engine->torture->baseline->pid ||
		    dump->sequence != engine->torture->baseline->sequence)
			continue;
		for (size_t j = 0; j < dump->failure_count; j++)
			excluded[j] = !is_below(&options->below, dump->failures[j].stack);
	}
	report_free(&report);
}

static void add_attempt(struct torture *torture, const struct failure *site, uint64_t hit)
{
	GROW(torture->attempts, torture->attempt_room, torture->attempt_count + 1);
	torture->attempts[torture->attempt_count++] = (struct attempt){.site = site, .hit = hit};
}

/* Adds the attempts at SITE that HITS names. */
static void add_attempts(struct torture *torture, const struct failure *site,
                         const struct hits *hits)
{
	const size_t before = torture->attempt_count;

	for (size_t i = 0; i < hits->count; i++) {
		const uint64_t hit = hits->all[i] == LAST_HIT ? site->hits : hits->all[i];
		bool known = hit > site->hits;

		for (size_t j = before; j < torture->attempt_count; j++)
			known |= torture->attempts[j].hit == hit;
		if (!known)
			add_attempt(torture, site, hit);
	}
}

/* Returns whether the allocation at SITE is the system libraries' own business: nobody checks what
 * they allocate before main.  What a shared C library allocates in a call of the program is tried:
 * glibc's fopen ends in a function without a name, and looks like the library's own. */
static bool is_of_system(const struct failure *site)
{
	const struct stack *stack = site->stack;

	if (!site->of_system)
		return false;
	if (stack->depth == 0 || !stack->at[0]->module || stack->at[0]->module->main)
		return true;
	/* The last frame is _start. */
	for (unsigned i = 1; i + 1 < stack->depth; i++)
		if (stack->at[i]->module && stack->at[i]->module->main)
			return false;
	return true;
}

/* Chooses what is tried.  Ends the tool with a message if --below= leaves nothing. */
static void choose_attempts(struct torture_options *options, struct engine *engine)
{
	struct torture *torture = engine->torture;
	const struct dump *baseline = torture->baseline;
	bool *excluded = xzalloc(baseline->failure_count + 1);

	apply_below(options, engine, excluded);
	if (options->below.count && !memchr(excluded, 0, baseline->failure_count))
		die("no call site of %s has a frame that --below= names", torture->argv[0]);
	for (size_t i = 0; i < baseline->failure_count; i++) {
		const struct failure *site = &baseline->failures[i];

		if (!site->only_reached)
			continue;
		if (excluded[i] || is_of_system(site))
			torture->left_out++;
		else
			add_attempts(torture, site, &options->hits);
	}
	free(excluded);
	if (options->limit && torture->attempt_count > options->limit)
		torture->attempt_count = (size_t)options->limit;
}

/* -- state ------------------------------------------------------------------------------------- */

/* Returns WORD in a form that no other word has, without spaces and on one line. */
static const char *escaped(struct arena *arena, const char *word)
{
	char *text = arena_alloc(arena, 2 * strlen(word) + 1), *end = text;

	if (!*word)
		return "''";
	for (; *word; word++) {
		if (strchr(" '\\\n", *word))
			*end++ = '\\';
		*end++ = *word == '\n' ? 'n' : *word;
	}
	*end = '\0';
	return text;
}

/* Returns a line that says what is tortured and how. */
static const char *subject_of(const struct torture_options *options, struct arena *arena)
{
	const char *subject =
	        arena_format(arena, "leakwrap torture%s%s%s --", options->sticky ? " --sticky" : "",
	                     options->size ? " --size=" : "", options->size ? options->size : "");

	for (char **word = options->argv; *word; word++)
		subject = arena_format(arena, "%s %s", subject, escaped(arena, *word));
	return subject;
}

/* Judges the attempts that an earlier torture has made. */
static void judge_resumed(struct engine *engine)
{
	struct torture *torture = engine->torture;

	for (size_t i = 0; i < torture->attempt_count; i++) {
		struct attempt *attempt = &torture->attempts[i];
		const size_t dumps = torture->report.dump_count,
		             misuses = torture->report.misuse_count;
		if (!attempt->done)
			continue;
		const char *log = attempt_log(&engine->arena, engine->state, attempt);
		if (access(log, R_OK) == 0)
			report_add(&torture->report, log);
		judge(torture, attempt, dumps, misuses);
	}
}

/* -- torture ----------------------------------------------------------------------------------- */

static void write_report(FILE *stream, const struct options *options, void *context)
{
	const struct style style = options_style(options, stream);

	if (options->format == FORMAT_JSON)
		torture_json(stream, context);
	else if (options->format == FORMAT_HTML)
		torture_html(stream, context);
	else
		torture_text(stream, context, &style, options->all);
}

/* Makes all attempts.  Returns false if the user has interrupted the tool. */
static bool try_all(const struct torture_options *options, struct engine *engine)
{
	struct torture *torture = engine->torture;

	if (options->engine != ENGINE_RERUN && count_done(torture) < torture->attempt_count &&
	    !fork_pass(engine))
		return false;
	if (options->engine != ENGINE_FORK)
		return rerun(engine);
	/* What the program did not come to again, or could not fork for, is left out. */
	torture->not_forked = torture->attempt_count - count_done(torture);
	return true;
}

static enum status make_torture(struct torture_options *options, struct engine *engine)
{
	struct torture *torture = engine->torture;
	uint64_t started;

	run_baseline(engine);
	choose_attempts(options, engine);
	torture->resumed = state_resume(engine->state, torture);
	judge_resumed(engine);
	started = monotonic_ns();
	if (!try_all(options, engine)) {
		complain("interrupted%s%s", options->state ? ": go on with --state=" : "",
		         options->state ? options->state : "");
		return STATUS_USAGE;
	}
	torture->ns = monotonic_ns() - started;
	complete_report(&torture->report, &options->common);
	suppress_findings(torture, &options->common.suppressions);
	if (write_output(&options->common, write_report, torture) != STATUS_FINE)
		return STATUS_USAGE;
	return count_findings(torture) > 0 ? STATUS_LEAKS : STATUS_FINE;
}

/* Copies the standard input to a file.  Returns its descriptor. */
static int copy_input(void)
{
	char name[] = "/tmp/leakwrap-torture-input.XXXXXX", bytes[4096];
	const int copy = mkostemp(name, O_CLOEXEC);

	if (copy < 0)
		die("%s: %s", name, strerror(errno));
	unlink(name);
	for (size_t got; (got = fread(bytes, 1, sizeof bytes, stdin)) > 0;)
		if (write(copy, bytes, got) != (ssize_t)got)
			die("the standard input does not fit the disk");
	return copy;
}

/* Returns a descriptor for the standard input of all runs, or -1.  What comes through a pipe is
 * copied, so that each run gets it. */
static int input_of_runs(void)
{
	struct stat status;

	if (fstat(STDIN_FILENO, &status) != 0)
		return -1;
	return S_ISREG(status.st_mode)    ? STDIN_FILENO
	       : S_ISFIFO(status.st_mode) ? copy_input()
	                                  : -1;
}

int command_torture(int argc, char **argv)
{
	struct torture_options options = {0};
	struct torture torture = {0};
	struct runner runner = {0};

	settings_read(&options.common.arena, &torture_argp, &report_argp, ARGP_IN_ORDER, &argc,
	              &argv);
	argp_parse(&torture_argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	const struct format_traits *format = format_traits(options.common.format);
	if (!format->is_for_torture)
		die("--format=%s is not for a torture: %s", format->name,
		    format_names(&options.common.arena, true));
	remember_input_path(options.argv[0]); /* a program in PATH is no input yet */
	if (!check_output(&options.common))
		return STATUS_USAGE;
	if (options.hits.count == 0)
		add_hit(&options.hits, 1);
	report_start(&torture.report);
	torture.argv = options.argv;
	torture.judges_error_exits = !options.only_handled_leaks;
	runner.input = input_of_runs();
	runner.limit = options.timeout * 1000000000;
	runner_start();
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct state state = state_open(&options.common.arena, options.state,
	                                subject_of(&options, &options.common.arena));
	struct engine engine = {.torture = &torture,
	                        .state = &state,
	                        .runner = &runner,
	                        .jobs = options.jobs     ? options.jobs
	                                : processors > 0 ? (unsigned)processors
	                                                 : 1,
	                        .sticky = options.sticky,
	                        .words = options.size ? arena_format(&options.common.arena,
	                                                             ",size=%s", options.size)
	                                              : ""};
	const enum status status = make_torture(&options, &engine);
	runner_end(&runner);
	state_close(&state);
	torture_free(&torture);
	arena_free(&engine.arena);
	free(options.below.all);
	free(options.hits.all);
	options_free(&options.common);
	return (int)status;
}
