/* report.c - the command report: the stages one after the other, and the exit status. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/command/commands.h"
#include "tools/command/options.h"
#include "tools/command/settings.h"
#include "tools/image/reach.h"
#include "tools/log/rotated.h"
#include "tools/model/add_log.h"
#include "tools/model/fleet.h"
#include "tools/model/kinds.h"
#include "tools/model/merge.h"
#include "tools/model/totals.h"

struct report_options {
	struct options common;
	const char **logs;
	size_t log_count, log_room;
	enum group_kind by;
	bool growth, only_last, fail_on_leaks, judges_all;
	unsigned leak_kinds; /* a set of kinds; 0: not chosen */
	/* The command line has --leak-kinds or --judge.  In a settings file they wait for a
	 * judgement. */
	bool asks_kinds, asks_judge;
	enum { MERGE_IF_MANY, MERGE_ALWAYS, MERGE_NEVER } merge;
	const char *hosts;
	bool limits_bytes, limits_blocks;
	uint64_t max_bytes, max_blocks;
	struct image_files files; /* with the memory of the process, if any */
};

enum {
	KEY_BY = 0x200,
	KEY_GROWTH,
	KEY_LAST,
	KEY_MERGE,
	KEY_EACH,
	KEY_HOSTS,
	KEY_FAIL_ON_LEAKS,
	KEY_JUDGE,
	KEY_LEAK_KINDS,
	KEY_MAX_BYTES,
	KEY_MAX_BLOCKS,
	KEY_CORE,
	KEY_IMAGE,
};

static const struct argp_option report_table[] = {
        {0, 0, 0, 0, "What to show:", 1},
        {"by", KEY_BY, "WHAT", 0,
         "Sum up by function, file, module, member (of an archive) or origin", 1},
        {"growth", KEY_GROWTH, 0, 0,
         "Rank call sites by steady growth over each process's dumps; with --merge over all "
         "processes",
         1},
        {"last", KEY_LAST, 0, 0, "Each process's last dump only, in all formats", 1},
        {"merge", KEY_MERGE, 0, 0,
         "One report of all processes' last dumps (the default for more than 4)", 1},
        {"hosts", KEY_HOSTS, "PATTERN", 0,
         "With --merge, where the path of a log names its host: logs/%h/*.log", 1},
        {"each", KEY_EACH, 0, 0, "A report of each process, however many", 1},
        {"core", KEY_CORE, "FILE", 0,
         "Tell lost from reachable memory by a core file of the same moment as the process's last "
         "dump that lists its blocks (option blocks=1)",
         1},
        {"image", KEY_IMAGE, "ADDRESS:FILE", 0,
         "The same by an image of a board's RAM that begins at ADDRESS; may be repeated", 1},
        {0, 0, 0, 0, "Exit with status 1 when the last dump of a process", 5},
        {"fail-on-leaks", KEY_FAIL_ON_LEAKS, 0, 0,
         "has a lost block, or any live block if it does not tell lost from reachable", 5},
        {"leak-kinds", KEY_LEAK_KINDS, "KINDS", 0,
         "Kinds of leaks for --fail-on-leaks: definite, indirect, possible, reachable, with commas "
         "between them, or all (default definite,indirect,possible)",
         5},
        {"max-bytes", KEY_MAX_BYTES, "N[K|M|G|T]", 0, "has more live bytes", 5},
        {"max-blocks", KEY_MAX_BLOCKS, "N[K|M|G|T]", 0, "has more live blocks", 5},
        {"judge", KEY_JUDGE, "WHAT", 0,
         "all: also what libraries allocated for themselves (the default is program)", 5},
        {0},
};

/* Returns the member of OPTIONS that the option KEY sets to true, or NULL. */
static bool *flag_of(struct report_options *options, int key)
{
	return key == KEY_GROWTH          ? &options->growth
	       : key == KEY_LAST          ? &options->only_last
	       : key == KEY_FAIL_ON_LEAKS ? &options->fail_on_leaks
	                                  : NULL;
}

/* Takes the file ARGUMENT of the option KEY.  Returns false if KEY is no such option. */
static bool take_file(struct report_options *options, int key, const char *argument,
                      const struct argp_state *state)
{
	if (key == KEY_CORE)
		options->files.core = option_text(state, "core", argument);
	else if (key == KEY_IMAGE)
		image_files_add(&options->files, argument);
	return key == KEY_CORE || key == KEY_IMAGE;
}

static error_t parse_report(int key, char *argument, struct argp_state *state)
{
	struct report_options *options = state->input;
	bool *flag = flag_of(options, key);

	if (take_file(options, key, argument, state))
		return 0;
	if (flag) {
		*flag = true;
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &options->common;
		break;
	case KEY_BY:
		options->by = group_kind_named(argument);
		if (options->by == GROUP_NONE)
			option_error(state,
			             "--by=%s: must be function, file, module, member or origin",
			             argument);
		break;
	case KEY_JUDGE:
		options->judges_all = strcmp(argument, "all") == 0;
		options->asks_judge = !is_setting(state);
		if (!options->judges_all && strcmp(argument, "program") != 0)
			option_error(state, "--judge=%s: must be program or all", argument);
		break;
	case KEY_MERGE:
		options->merge = MERGE_ALWAYS;
		break;
	case KEY_EACH:
		options->merge = MERGE_NEVER;
		break;
	case KEY_HOSTS:
		if (!strstr(argument, "%h"))
			option_error(state, "--hosts=%s: %%h must stand for the host", argument);
		options->hosts = argument;
		break;
	case KEY_LEAK_KINDS:
		options->leak_kinds = option_kinds(state, "leak-kinds", argument);
		options->asks_kinds = !is_setting(state);
		break;
	case KEY_MAX_BYTES:
		options->max_bytes = option_size(state, "max-bytes", argument);
		options->limits_bytes = true;
		break;
	case KEY_MAX_BLOCKS:
		options->max_blocks = option_size(state, "max-blocks", argument);
		options->limits_blocks = true;
		break;
	case ARGP_KEY_ARG:
		GROW(options->logs, options->log_room, options->log_count + 1);
		options->logs[options->log_count++] = argument;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* -- judgement --------------------------------------------------------------------------------- */

/* Counts the live bytes and blocks by which DUMP is judged.  Suppressed call sites do not count.
 * Nor does the memory that libraries hold for themselves, unless JUDGES_ALL. */
static void count_judged(const struct dump *dump, bool judges_all, uint64_t *bytes,
                         uint64_t *blocks)
{
	*bytes = unsuppressed_bytes(dump);
	*blocks = unsuppressed_blocks(dump);
	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		if (!judges_all && site->origin != ORIGIN_PROGRAM && site->bytes <= *bytes &&
		    site->blocks <= *blocks) {
			*bytes -= site->bytes;
			*blocks -= site->blocks;
		}
	}
}

/* Counts the bytes and blocks of DUMP that are leaks of KINDS, as count_judged does.  Blocks of
 * unknown kind count, as all blocks of a dump without kinds do.  Returns whether there are any. */
static bool count_leaks(const struct dump *dump, bool judges_all, unsigned kinds, uint64_t *bytes,
                        uint64_t *blocks)
{
	struct reach_sums reach = dump->totals.reach;
	uint64_t unknown_bytes = 0, unknown_blocks = 0;

	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		if (judges_all || site->origin == ORIGIN_PROGRAM) {
			add_up(&unknown_bytes, untold_bytes(dump, site));
			add_up(&unknown_blocks, untold_blocks(dump, site));
		} else {
			struct reach_sums held = site->reach;
			for (unsigned kind = 0; kind < REACHES; kind++)
				if (kinds_judged(site->origin) >> kind & 1)
					held.bytes[kind] = held.blocks[kind] = 0;
			subtract_reach(&reach, &held);
		}
	}
	*bytes = kinds_bytes(&reach, kinds);
	*blocks = kinds_blocks(&reach, kinds);
	add_up(bytes, unknown_bytes);
	add_up(blocks, unknown_blocks);
	return unknown_blocks > 0;
}

/* How many processes the judgement names before it only counts the others. */
enum { JUDGED_NAMED = 10 };

static bool has_judgement(const struct report_options *options)
{
	return options->fail_on_leaks || options->limits_bytes || options->limits_blocks;
}

/* Judges the last dump of each process.  Returns STATUS_LEAKS after a message if one exceeds what
 * the options allow. */
static enum status judge(const struct report_options *options, const struct report *report)
{
	enum status status = STATUS_FINE;
	size_t failed = 0;

	if (!has_judgement(options))
		return STATUS_FINE;
	if (report->dump_count == 0) {
		complain("there is no dump of live blocks to be judged");
		return STATUS_USAGE;
	}
	for (size_t i = 0; i < report->dump_count; i++) {
		const struct dump *dump = report->dumps[i];
		if (!dump->last)
			continue;
		uint64_t bytes, blocks;
		count_judged(dump, options->judges_all, &bytes, &blocks);
		bool many_bytes = options->limits_bytes && bytes > options->max_bytes;
		bool many_blocks = options->limits_blocks && blocks > options->max_blocks;
		bool tells = options->fail_on_leaks && dump->totals.reach.is_known && !many_bytes &&
		             !many_blocks;
		const unsigned kinds = options->leak_kinds ? options->leak_kinds : KINDS_LOST;
		const char *what = tells && !(kinds & ~KINDS_LOST) ? "lost" : "live";
		if (tells && count_leaks(dump, options->judges_all, kinds, &bytes, &blocks))
			what = "lost or of unknown kind";
		/* Without them a dump would judge blocks that are reachable. */
		bool may_have_lost_kinds =
		        dump->damage && !dump->totals.reach.is_known && kinds != KINDS_ALL;
		bool leaks = options->fail_on_leaks && blocks > 0 && !may_have_lost_kinds;
		if (leaks || many_bytes || many_blocks) {
			if (failed++ < JUDGED_NAMED)
				complain("process %lu, dump %lu: %s byte%s in %s block%s %s %s%s",
				         dump->pid, dump->sequence, with_commas(bytes),
				         bytes == 1 ? "" : "s", with_commas(blocks),
				         blocks == 1 ? "" : "s",
				         bytes == 1 && blocks == 1 ? "is" : "are", what,
				         many_bytes || many_blocks ? ", more than allowed" : "");
			if (status == STATUS_FINE)
				status = STATUS_LEAKS;
		} else if (dump->damage) {
			complain("process %lu, dump %lu cannot be judged: it is damaged", dump->pid,
			         dump->sequence);
			status = STATUS_USAGE;
		}
	}
	if (failed > JUDGED_NAMED)
		complain("and %zu more process%s", failed - JUDGED_NAMED,
		         failed - JUDGED_NAMED == 1 ? "" : "es");
	return status;
}

/* -- many processes ---------------------------------------------------------------------------- */

/* More processes than this are merged into one report. */
enum { PROCESSES_EACH = 4 };

/* More logs than this are read one by one, so that memory does not grow with their number. */
enum { LOGS_TOGETHER = 64 };

/* Returns true if each log is added to a sum and forgotten. */
static bool is_fleet(const struct report_options *options)
{
	bool many = options->log_count > LOGS_TOGETHER && options->merge == MERGE_IF_MANY &&
	            !options->growth && !options->common.all &&
	            format_traits(options->common.format)->takes_merge;

	for (size_t i = 0; i < options->log_count; i++)
		if (strchr(options->logs[i], '@') && access(options->logs[i], F_OK) != 0)
			return false;
	return !has_judgement(options) && (many || options->merge == MERGE_ALWAYS);
}

/* Returns true if text, and the page when it opens, show the last dumps of all processes added
 * up. */
static bool is_merged(const struct report_options *options, const struct report *report)
{
	bool many = report->process_count > PROCESSES_EACH;

	if (options->growth || report->dump_count == 0)
		return false;
	return options->merge == MERGE_ALWAYS ||
	       (options->merge == MERGE_IF_MANY && many && !options->common.all);
}

/* Adds up the last dumps of all processes.  Returns NULL if neither text nor the page shows
 * that. */
static const struct dump *merge_last_dumps(const struct report_options *options,
                                           struct report *report)
{
	const struct format_traits *format = format_traits(options->common.format);
	bool several = report->process_count > 1 && options->merge != MERGE_NEVER;
	bool is_text = options->common.format == FORMAT_TEXT;
	bool wanted = is_text ? is_merged(options, report) : several;

	if (!wanted || !format->takes_merge || format->adds_up_dumps)
		return NULL;
	struct dump_list last = list_dumps(report, DUMPS_LAST);
	return merge_dumps(report, &last);
}

/* -- core files -------------------------------------------------------------------------------- */

static bool has_files(const struct report_options *options)
{
	return options->files.core || options->files.image_count > 0;
}

/* Sets the kinds of the dump to which the files belong that OPTIONS name, if any.  Returns false
 * after a message if a file cannot be used. */
static bool judge_by_files(const struct report_options *options, struct report *report)
{
	struct image_reach reach;

	if (!has_files(options))
		return true;
	if (!reach_of_files(&reach, &options->files, report, &options->common.search))
		return false;
	reach_judge(&reach);
	reach_free(&reach);
	return true;
}

/* -- report ------------------------------------------------------------------------------------ */

/* Returns false after a message if options exclude each other. */
static bool check_options(const struct report_options *options)
{
	const struct format_traits *format = format_traits(options->common.format);
	if (options->by != GROUP_NONE && !format->takes_by) {
		complain("--by is for text and json: %s has every call site of its own",
		         format->name);
		return false;
	}
	if (options->merge == MERGE_ALWAYS && options->growth && !is_fleet(options)) {
		complain("--merge --growth takes whole logs, and judges none of them");
		return false;
	}
	if (options->merge == MERGE_ALWAYS && options->growth && options->by != GROUP_NONE) {
		complain("--by is not for --merge --growth, which has every call site of its own");
		return false;
	}
	if (options->merge == MERGE_ALWAYS && !format->takes_merge) {
		complain("--merge is not for %s, which has every process of its own", format->name);
		return false;
	}
	if (has_files(options) && is_fleet(options)) {
		complain("--core and --image are for the log of one process, without --merge");
		return false;
	}
	if (options->asks_kinds && !options->fail_on_leaks) {
		complain("--leak-kinds is for --fail-on-leaks");
		return false;
	}
	if (options->asks_judge && !has_judgement(options)) {
		complain("--judge is for --fail-on-leaks, --max-bytes and --max-blocks");
		return false;
	}
	if (options->files.core && options->files.image_count > 0) {
		complain("--core and --image exclude each other: give the memory of one moment");
		return false;
	}
	if (options->hosts && !is_fleet(options)) {
		complain("--hosts is for --merge of whole logs");
		return false;
	}
	return true;
}

/* Says that the dumps are too few to tell what grows. */
static enum status lack_series(void)
{
	complain("growth needs at least two dumps of one process");
	return STATUS_USAGE;
}

static void complain_of_duplicates(const struct report *report)
{
	if (report->duplicates)
		complain("%zu dump%s came twice and %s reported once", report->duplicates,
		         report->duplicates == 1 ? "" : "s",
		         report->duplicates == 1 ? "is" : "are");
}

/* Adds the logs that OPTIONS name to REPORT: to the sum of a FLEET, or dump by dump.  Returns
 * false, after messages, if one cannot be read, or holds no dump and is no part of a rotated log
 * that has dumps. */
static bool add_logs(struct report_options *options, struct report *report, bool fleet)
{
	const struct fleet_options fleet_options = {options->hosts, options->growth,
	                                            options->common.kinds};
	bool fine = true;

	if (fleet)
		return fleet_add(report, options->logs, options->log_count, &fleet_options);
	sort_rotated(options->logs, options->log_count);
	bool *lacks = xzalloc(options->log_count * sizeof *lacks);
	for (size_t i = 0; i < options->log_count; i++) {
		if (!report_add(report, options->logs[i]))
			fine &= report->lacks_dumps;
		lacks[i] = report->lacks_dumps;
	}
	fine &= !has_log_without_dumps(options->logs, lacks, options->log_count);
	free(lacks);
	return fine;
}

/* Writes the answer of REPORT, which is complete, and may be the sum of a FLEET.  Returns
 * STATUS_FINE or, after a message, STATUS_USAGE. */
static enum status show(const struct report_options *options, struct report *report, bool fleet)
{
	const enum format format = options->common.format;
	/* Flame graphs add up all dumps.  Two dumps of one process must not be added up. */
	const bool is_flame_graph = format_traits(format)->adds_up_dumps;
	const bool is_page = format == FORMAT_HTML;
	if (report->dump_count == 0 && (is_flame_graph || is_page)) {
		complain("there is no dump of live blocks; of misuse, text and JSON tell");
		return STATUS_USAGE;
	}
	const enum which_dumps which = options->only_last || is_flame_graph ? DUMPS_LAST
	                               : format == FORMAT_TEXT && !options->common.all
	                                       ? DUMPS_LAST_OR_CHOSEN
	                                       : DUMPS_ALL;
	struct dump_list list = list_dumps(report, which);
	struct growths growths = {0};
	const struct dump *fleet_sum = fleet && report->dump_count ? report->dumps[0] : NULL;
	if (fleet_sum && options->growth && fleet_sum->merged->series == 0)
		return lack_series();
	if (fleet_sum && !is_flame_graph)
		list.count = 0;
	struct answer answer = {.report = report,
	                        .merged = fleet_sum ? fleet_sum : merge_last_dumps(options, report),
	                        .merged_first = fleet_sum || is_merged(options, report),
	                        .by = options->by,
	                        .top = options_get_top(&options->common),
	                        .all_frames = options->common.all};
	if (options->growth && !fleet) {
		growths = find_growth(report, options->by);
		answer.growths = &growths;
		if (growths.series == 0)
			return lack_series();
	}
	if (!options->growth || is_page || fleet)
		answer.dumps = &list;
	const enum status written = write_answer(&options->common, &answer);
	free(growths.all);
	return written;
}

static enum status make_report(struct report_options *options, struct report *report)
{
	if (!check_options(options))
		return STATUS_USAGE;
	report->keeps_blocks = has_files(options);
	const bool fleet = is_fleet(options);
	const bool fine = add_logs(options, report, fleet);
	complain_of_duplicates(report);
	if (report->dump_count == 0 && report->misuse_count == 0)
		return STATUS_USAGE;
	if (!judge_by_files(options, report))
		return STATUS_USAGE;
	complete_report(report, &options->common);
	suppressions_report_unused(&options->common.suppressions);
	/* The verdict does not depend on what is shown. */
	const enum status judged = judge(options, report);
	if (!choose_kinds(report, &options->common))
		return STATUS_USAGE;
	const enum status shown = show(options, report, fleet);
	return !fine || shown != STATUS_FINE ? STATUS_USAGE : judged;
}

const struct argp report_argp = {
        .options = report_table,
        .parser = parse_report,
        .args_doc = "[LOG...]",
        .doc = "Turns the dumps in one or more logs into a report."
               "\vLOG is a file with dumps between any other lines, or - for standard input (the "
               "default).  LOG@N is dump N of the log, LOG@PID:N is dump N of process PID; "
               "leakwrap list names them.\n\n"
               "Text shows the last dump of each process, its largest call sites and the frames "
               "from the function that asked for the memory down to main.\n\n"
               "Exit status: 0 fine, 1 leaks or limits exceeded where asked, 2 usage or unreadable "
               "input.",
        .children = dump_options,
};

int command_report(int argc, char **argv)
{
	struct report_options options = {0};
	struct report report;

	settings_read(&options.common.arena, &report_argp, &report_argp, 0, &argc, &argv);
	argp_parse(&report_argp, argc, argv, 0, NULL, &options);
	if (options.log_count == 0) {
		GROW(options.logs, options.log_room, 1);
		options.logs[options.log_count++] = "-";
	}
	report_start(&report);
	enum status status = make_report(&options, &report);
	report_free(&report);
	options_free(&options.common);
	free(options.files.images);
	free(options.logs);
	return (int)status;
}
