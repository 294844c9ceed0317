/* diff.c - the command diff: the stages one after the other, for two dumps. */
#include <argp.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/table.h"
#include "tools/command/commands.h"
#include "tools/command/options.h"
#include "tools/command/settings.h"
#include "tools/model/add_log.h"

struct diff_options {
	struct options common;
	const char *logs[2];
};

static error_t parse_diff(int key, char *argument, struct argp_state *state)
{
	struct diff_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &options->common;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 2)
			argp_error(state, "%s: one argument too many", argument);
		options->logs[state->arg_num] = argument;
		break;
	case ARGP_KEY_END:
		if (state->arg_num != 2)
			argp_error(state,
			           state->arg_num ? "NEW is missing" : "OLD and NEW are missing");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool has_pid(const void *pid, const void *dump)
{
	return *(const unsigned long *)pid == ((const struct dump *)dump)->pid;
}

/* Returns the process ids of the COUNT dumps at DUMPS as text.  After three it counts the
 * others. */
static const char *name_processes(struct arena *arena, struct dump *const *dumps, size_t count)
{
	enum { NAMED = 3 };
	const char *names = "";
	struct table seen = {0}; /* a dump of each process */

	for (size_t i = 0; i < count; i++) {
		const uint64_t hash = hash_word(0, dumps[i]->pid);
		if (table_find(&seen, hash, &dumps[i]->pid, has_pid))
			continue;
		table_add(&seen, hash, dumps[i]);
		if (seen.used <= NAMED)
			names = arena_format(arena, "%s%s%lu", names, seen.used > 1 ? ", " : "",
			                     dumps[i]->pid);
	}
	const size_t processes = seen.used;
	table_free(&seen);
	return processes > NAMED ? arena_format(arena, "%s and %zu more, see leakwrap list", names,
	                                        processes - NAMED)
	                         : names;
}

/* Adds LOG to REPORT.  Returns its last dump, or NULL after a message. */
static const struct dump *add_log(struct report *report, const char *log)
{
	size_t before = report->dump_count;
	if (!report_add(report, log))
		return NULL;
	const struct dump *dump = report->latest;
	if (!dump) {
		complain("%s holds no dump of live blocks", log);
		return NULL;
	}
	for (size_t i = before; i < report->dump_count; i++) {
		if (report->dumps[i]->pid != dump->pid) {
			complain("%s has dumps of several processes (%s): choose one as LOG@PID:N",
			         log,
			         name_processes(&report->arena, report->dumps + before,
			                        report->dump_count - before));
			return NULL;
		}
	}
	if (dump->chosen && report->has_several) {
		complain("%s has several dumps %lu of process %lu: choose one as LOG@PID:N:K, the "
		         "Kth of them in leakwrap list",
		         log, dump->sequence, dump->pid);
		return NULL;
	}
	return dump;
}

static enum status make_diff(struct diff_options *options, struct report *report)
{
	const struct dump *old = add_log(report, options->logs[0]);
	const struct dump *new = old ? add_log(report, options->logs[1]) : NULL;
	if (!new)
		return STATUS_USAGE;
	complete_report(report, &options->common);
	if (!choose_kinds(report, &options->common))
		return STATUS_USAGE;
	if (options->common.kinds && !(old->totals.reach.is_known && new->totals.reach.is_known)) {
		complain("two dumps are compared by kinds only if both have them");
		return STATUS_USAGE;
	}
	struct changes changes = compare_dumps(report, old, new);
	struct answer answer = {.report = report,
	                        .changes = &changes,
	                        .top = options_get_top(&options->common),
	                        .all_frames = options->common.all};
	return write_answer(&options->common, &answer);
}

int command_diff(int argc, char **argv)
{
	static const struct argp argp = {
	        .parser = parse_diff,
	        .args_doc = "OLD NEW",
	        .doc = "Shows which call sites grew, shrank, appeared or vanished between two "
	               "dumps."
	               "\vOLD and NEW are logs as in leakwrap report.  LOG is the last dump of the "
	               "log, LOG@N is dump N, LOG@PID:N is dump N of process PID.  Two call sites "
	               "are the same if their stacks have the same functions, so two runs and two "
	               "builds compare.",
	        .children = dump_options,
	};
	struct diff_options options = {0};
	struct report report;

	settings_read(&options.common.arena, &argp, &report_argp, 0, &argc, &argv);
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	report_start(&report);
	enum status status = make_diff(&options, &report);
	report_free(&report);
	options_free(&options.common);
	return (int)status;
}
