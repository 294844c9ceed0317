/* why.c - the command why: what keeps the blocks of a call site alive. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/command/commands.h"
#include "tools/command/options.h"
#include "tools/image/reach.h"
#include "tools/model/add_log.h"
#include "tools/render/render_why.h"

struct why_options {
	struct options common;
	struct image_files files;
	const char *site;
	const char **logs;
	size_t log_count, log_room;
	uint64_t content;
};

enum {
	KEY_CORE = 0x200,
	KEY_IMAGE,
	KEY_CONTENT,
	KEY_TOP,
};

/* How many bytes --content shows, and how many ways of a call site text shows. */
enum { CONTENT = 64, TOP = 5 };

static const struct argp_option why_table[] = {
        {"core", KEY_CORE, "FILE", 0,
         "The core file, of the same moment as the process's last dump that lists its blocks", 1},
        {"image", KEY_IMAGE, "ADDRESS:FILE", 0,
         "In place of it an image of a board's RAM that begins at ADDRESS; may be repeated", 1},
        {"content", KEY_CONTENT, "BYTES", OPTION_ARG_OPTIONAL,
         "Also show the first BYTES of a block of each way (default 64); they may hold secrets", 1},
        {"top", KEY_TOP, "N", 0, "In text, at most N ways of a call site (default 5; 0 is all)", 1},
        {"format", 'f', "NAME", 0, "text (default) or json", 2},
        {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 2},
        {0},
};

static error_t parse_why(int key, char *argument, struct argp_state *state)
{
	struct why_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->common;
		break;
	case KEY_CORE:
		options->files.core = option_text(state, "core", argument);
		break;
	case KEY_IMAGE:
		image_files_add(&options->files, argument);
		break;
	case KEY_CONTENT:
		options->content = argument ? option_size(state, "content", argument) : CONTENT;
		break;
	case KEY_TOP:
		options->common.top = option_count(state, argument);
		break;
	case 'f':
		if (strcmp(argument, "json") == 0)
			options->common.format = FORMAT_JSON;
		else if (strcmp(argument, "text") != 0)
			argp_error(state, "--format=%s: must be text or json", argument);
		break;
	case 'o':
		options->common.output = option_text(state, "output", argument);
		break;
	case ARGP_KEY_ARG:
		if (!options->site) {
			options->site = argument;
			break;
		}
		GROW(options->logs, options->log_room, options->log_count + 1);
		options->logs[options->log_count++] = argument;
		break;
	case ARGP_KEY_END:
		if (!options->files.core && options->files.image_count == 0)
			argp_error(state, "--core=FILE or --image=ADDRESS:FILE is missing");
		if (options->files.core && options->files.image_count > 0)
			argp_error(state, "--core and --image exclude each other");
		if (options->log_count == 0)
			argp_error(state, "SITE and LOG are missing");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Finds the ways to the call sites of the dump that NAME stands for: a rank, or what their frames
 * contain. */
static void find_sites(struct why *why, struct image_reach *reach, const char *name)
{
	const struct dump *dump = reach->dump;
	struct way_finder finder = ways_start(reach);
	uint64_t rank = 0;
	size_t room = 0;

	name += *name == '#';
	if (!parse_number(name, &rank))
		rank = 0;
	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		if (site->blocks == 0 ||
		    (rank ? site->rank != rank : !stack_matches(name, site->stack)))
			continue;
		GROW(why->sites, room, why->site_count + 1);
		why->sites[why->site_count++] =
		        (struct why_site){site, ways_find(&finder, site->rank)};
	}
	ways_end(&finder);
}

static void write_why(FILE *stream, const struct options *options, void *context)
{
	const struct style style = options_style(options, stream);

	if (options->format == FORMAT_JSON)
		render_why_json(stream, context);
	else
		render_why_text(stream, context, &style);
}

/* Answers for the call sites of REPORT, to which the logs were added. */
static enum status answer(struct why_options *options, struct report *report)
{
	struct demangler demangler = {.strings = &report->strings};
	struct image_reach reach;
	enum status status = STATUS_USAGE;

	if (!reach_of_files(&reach, &options->files, report, &options->common.search))
		return STATUS_USAGE;
	complete_report(report, &options->common);
	struct why why = {.reach = &reach,
	                  .demangler = &demangler,
	                  .top = options->common.top,
	                  .content = options->content};
	find_sites(&why, &reach, options->site);
	if (why.site_count > 0)
		status = write_output(&options->common, write_why, &why);
	else
		complain("dump %lu of process %lu has no call site %s", reach.dump->sequence,
		         reach.dump->pid, options->site);
	for (size_t i = 0; i < why.site_count; i++)
		ways_free(&why.sites[i].ways);
	free(why.sites);
	demangler_stop(&demangler);
	reach_free(&reach);
	return status;
}

int command_why(int argc, char **argv)
{
	static const struct argp argp = {
	        .options = why_table,
	        .parser = parse_why,
	        .args_doc = "SITE LOG...",
	        .doc = "Shows what keeps the blocks of a call site alive: the way of pointers from "
	               "a variable, a stack or a register to them.\v"
	               "SITE is the number of a call site in leakwrap report, a place like "
	               "server.c:15, or a part of the name of a function, source file or module in "
	               "its stack.  LOG is as in leakwrap report.  The program must run with the "
	               "option blocks=1.\n\n"
	               "Exit status: 0 fine, 2 usage or unreadable input.",
	        .children = file_options,
	};
	struct why_options options = {.common = {.top = TOP}};
	struct report report;
	enum status status = STATUS_USAGE;
	bool fine = true;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	report_start(&report);
	report.keeps_blocks = true;
	for (size_t i = 0; i < options.log_count; i++)
		fine &= report_add(&report, options.logs[i]);
	if (fine)
		status = answer(&options, &report);
	report_free(&report);
	options_free(&options.common);
	free(options.files.images);
	free(options.logs);
	return (int)status;
}
