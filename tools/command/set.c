/* set.c - the commands set and mark: change what a running program records and its dumps tell, and
 * mark the time.
 *
 * What is asked for goes to the program in the integer of the dump signal, which the program's own
 * handler does not see.  The program announces in its memory what it records then.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "report/announcement.h"
#include "report/request.h"
#include "tools/base/clock.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/command/commands.h"
#include "tools/command/process_options.h"
#include "tools/process/target_process.h"

struct set_options {
	struct process_options process;
	bool has_record, record;
	bool has_sample;
	uint64_t sample;
	bool has_kinds;
	uint32_t kinds; /* an enum leakwrap_kinds_when */
	bool marks;     /* the command is mark */
	uint32_t marks_before;
};

static uint32_t parse_kinds(const char *text, const char *value, struct argp_state *state)
{
	static const char *const words[] = {LEAKWRAP_KINDS_WORDS};

	for (uint32_t number = 0; number < sizeof words / sizeof *words; number++)
		if (strcmp(value, words[number]) == 0)
			return number;
	argp_error(state, "%s: kinds is " LEAKWRAP_KINDS_VALUES, text);
	return 0;
}

/* Reads "record=1", "sample=512K" or "kinds=always". */
static void parse_setting(struct set_options *options, const char *text, struct argp_state *state)
{
	const char *value = strchr(text, '=');
	const size_t length = value ? (size_t)(value++ - text) : 0;

	if (length == 6 && strncmp(text, "record", length) == 0) {
		if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
			argp_error(state, "%s: record is 0 or 1", text);
		options->has_record = true;
		options->record = *value == '1';
	} else if (length == 6 && strncmp(text, "sample", length) == 0) {
		if (!parse_size(value, &options->sample) || options->sample > LEAKWRAP_SAMPLE_MAX)
			argp_error(state,
			           "%s: sample is " LEAKWRAP_SAMPLE_VALUES
			           "; K, M and G may follow",
			           text);
		if (leakwrap_unpack_bytes(leakwrap_pack_bytes(options->sample)) != options->sample)
			argp_error(state,
			           "%s: sample has at most 15 significant bits, such as %" PRIu64,
			           text,
			           leakwrap_unpack_bytes(leakwrap_pack_bytes(options->sample)));
		options->has_sample = true;
	} else if (length == 5 && strncmp(text, "kinds", length) == 0) {
		options->kinds = parse_kinds(text, value, state);
		options->has_kinds = true;
	} else {
		argp_error(state,
		           "%s: a running program can change record=0, record=1, sample=BYTES and "
		           "kinds=" LEAKWRAP_KINDS_VALUES,
		           text);
	}
}

static error_t parse_set(int key, char *argument, struct argp_state *state)
{
	struct set_options *options = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->process;
		break;
	case ARGP_KEY_ARG:
		if (!options->process.pid || options->marks)
			return ARGP_ERR_UNKNOWN; /* it is the process */
		parse_setting(options, argument, state);
		break;
	case ARGP_KEY_END:
		if (!options->marks && !options->has_record && !options->has_sample &&
		    !options->has_kinds)
			argp_error(state, "KEY=VALUE is missing");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Returns the integer that asks for what OPTIONS say of recording and marks (report/request.h). */
static uint32_t request_of(const struct set_options *options)
{
	uint32_t request = LEAKWRAP_SET;

	if (options->marks)
		request |= LEAKWRAP_SET_MARK;
	if (options->has_record)
		request |= LEAKWRAP_SET_RECORD;
	if (options->record)
		request |= LEAKWRAP_SET_RECORD_ON;
	if (options->has_sample)
		request |= LEAKWRAP_SET_SAMPLE | leakwrap_pack_bytes(options->sample);
	return request;
}

static bool is_done(const struct set_options *options, const struct target_process *process)
{
	return (!options->marks || process->marks != options->marks_before) &&
	       (!options->has_record || process->record == options->record) &&
	       (!options->has_sample || process->sample == options->sample) &&
	       (!options->has_kinds || process->kinds == options->kinds);
}

/* Waits until PROCESS announces what OPTIONS say. */
static enum status wait_until_done(struct arena *arena, struct target_process *process,
                                   const struct set_options *options)
{
	const uint64_t deadline = deadline_after(options->process.timeout);

	do {
		if (reexamine_process(arena, process) && is_done(options, process))
			return STATUS_FINE;
		if (kill(process->pid, 0) != 0) {
			complain("process %d ended meanwhile", process->pid);
			return STATUS_USAGE;
		}
	} while (sleep_before(deadline));
	const char *why = "it has raised privileges, or did not run meanwhile";
	if (!process->announces_needs_all)
		why = arena_format(arena, "%s, or %s", why,
		                   options->marks ? "has the option fail="
		                                  : "its options misuse= or fail= need all blocks");
	if (options->marks)
		complain("process %d has not marked the time within %" PRIu64
		         " s: %s, or has had more than 260,000 call sites at a time (32,000 with "
		         "32 bits)",
		         process->pid, options->process.timeout, why);
	else
		complain("process %d has not changed what it records within %" PRIu64 " s: %s",
		         process->pid, options->process.timeout, why);
	return STATUS_USAGE;
}

/* Returns true if PROCESS refuses what OPTIONS say, and says why. */
static bool is_refused(const struct set_options *options, const struct target_process *process)
{
	const bool fails = process->needs_all == LEAKWRAP_NEEDS_ALL_FAIL;
	const bool records = options->has_record || options->has_sample;
	if (process->needs_all == LEAKWRAP_NEEDS_ALL_NOT || !(options->marks ? fails : records) ||
	    is_done(options, process))
		return false;
	if (options->marks)
		complain("process %d has the option fail=, with which there are no marks",
		         process->pid);
	else
		complain("process %d has the option %s, which needs all blocks: record= and "
		         "sample= cannot be changed",
		         process->pid, fails ? "fail=" : "misuse=");
	return true;
}

/* Sends REQUEST to PROCESS, whose turn it is, and waits until it announces what OPTIONS say. */
static enum status send_request(struct arena *arena, struct target_process *process,
                                uint32_t request, struct set_options *options)
{
	if (process->announced)
		reexamine_process(arena, process);
	options->marks_before = process->marks;
	if (is_refused(options, process))
		return STATUS_USAGE;
	if (sigqueue(process->pid, process->signal, (union sigval){.sival_int = (int)request}) !=
	    0) {
		complain("process %d: %s", process->pid, strerror(errno));
		return STATUS_USAGE;
	}
	if (!process->announced) {
		complain("process %d was asked, but its memory cannot be read: whether it has "
		         "changed what it records is not known",
		         process->pid);
		return STATUS_FINE;
	}
	return wait_until_done(arena, process, options);
}

/* Does what send_request does when it is the turn of this command to ask PROCESS.  The turn lasts
 * until the change is seen: the next command may change the same. */
static enum status request_in_turn(struct arena *arena, struct target_process *process,
                                   uint32_t request, struct set_options *options)
{
	int turn;

	if (!wait_for_turn(process, options->process.timeout, &turn))
		return STATUS_USAGE;
	const enum status status = send_request(arena, process, request, options);
	process_end_turn(turn);
	return status;
}

static enum status set(struct arena *arena, struct target_process *process,
                       struct set_options *options)
{
	struct set_options kinds = {
	        .process = options->process, .has_kinds = true, .kinds = options->kinds};
	const bool sets_kinds = options->has_kinds;
	enum status status = STATUS_FINE;

	options->has_kinds = false; /* a request of its own */
	if (process->announced &&
	    (!process->announces_recording || (sets_kinds && !process->announces_kinds))) {
		complain("process %d has another version of the tracer: link its program again",
		         process->pid);
		return STATUS_USAGE;
	}
	if (options->marks || options->has_record || options->has_sample)
		status = request_in_turn(arena, process, request_of(options), options);
	if (status == STATUS_FINE && sets_kinds)
		status = request_in_turn(
		        arena, process, LEAKWRAP_SET | LEAKWRAP_SET_KINDS | options->kinds, &kinds);
	return status;
}

/* Runs a command with ARGP, whose input is OPTIONS. */
static int run(const struct argp *argp, struct set_options *options, int argc, char **argv)
{
	struct arena arena = {0};

	argp_parse(argp, argc, argv, 0, NULL, options);
	struct target_process process = {.pid = (pid_t)options->process.pid};
	enum status status = examine_process(&arena, &process, options->process.signal)
	                             ? set(&arena, &process, options)
	                             : STATUS_USAGE;
	arena_free(&arena);
	return (int)status;
}

int command_set(int argc, char **argv)
{
	static const struct argp argp = {
	        .parser = parse_set,
	        .children = process_options,
	        .args_doc = "PID KEY=VALUE...",
	        .doc = "Changes what a running, traced process records and its dumps tell, and "
	               "waits until it is done."
	               "\vThe keys are:\n\n"
	               "  record=0       records nothing more; record=1 records again\n"
	               "  sample=BYTES   records a sample, one block for each BYTES; 0 records "
	               "all\n"
	               "  kinds=WHEN     which dumps tell lost memory: " LEAKWRAP_KINDS_VALUES
	               "\n\n"
	               "  leakwrap set PID record=1 sample=512K",
	};
	struct set_options options = {.marks = false};
	return run(&argp, &options, argc, argv);
}

int command_mark(int argc, char **argv)
{
	static const struct argp argp = {
	        .parser = parse_set,
	        .children = process_options,
	        .args_doc = "PID",
	        .doc = "Marks the time in a running, traced process, and waits until it is done."
	               "\vFrom then on its dumps say of live blocks how many were allocated since "
	               "the mark.  A new mark replaces the old.\n\n"
	               "  leakwrap mark PID; sleep 600; leakwrap dump PID | leakwrap report",
	};
	struct set_options options = {.marks = true};
	return run(&argp, &options, argc, argv);
}
