/* dump.c - the command dump: asks a running program for a dump, and prints it when it is whole.
 *
 * The signal is sent as a request, which the program's own handler does not see.
 */
#include <argp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

#include "tools/base/clock.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/command/commands.h"
#include "tools/command/process_options.h"
#include "tools/process/log_hint.h"

struct dump_options {
	struct process_options process;
	bool kinds; /* the dump tells lost from reachable memory */
};

static error_t parse_dump(int key, char *argument, struct argp_state *state)
{
	struct dump_options *options = state->input;

	(void)argument;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->process;
		break;
	case 'k':
		options->kinds = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Prints the new dump of PROCESS and returns true if it is whole. */
static bool print_dump(const struct target_process *process, struct dump_log *log, bool kinds)
{
	size_t size = 0;
	char *dump = dump_log_read(process, log, kinds, &size);
	if (dump)
		fwrite(dump, 1, size, stdout);
	free(dump);
	return dump != NULL;
}

/* Returns why PROCESS may have written no dump: the end of a message. */
static const char *find_reason(struct arena *arena, const struct target_process *process,
                               const struct dump_log *log)
{
	const char *hint = dump_log_was_truncated(log)
	                           ? "; the log was truncated meanwhile, perhaps with the dump"
	                           : log_hint(arena, process, log);
	if (*hint || process->signal >= SIGRTMIN)
		return hint;
	return "; if the program or one of its libraries uses the dump signal itself, start it "
	       "with LEAKWRAP_OPTIONS=signal=RTMIN+3";
}

/* Waits up to TIMEOUT seconds until the dump is whole, and prints it. */
static enum status wait_for_dump(struct arena *arena, const struct target_process *process,
                                 struct dump_log *log, bool kinds, uint64_t timeout)
{
	const uint64_t deadline = deadline_after(timeout);

	do {
		if (print_dump(process, log, kinds))
			return STATUS_FINE;
		if (kill(process->pid, 0) != 0) {
			if (print_dump(process, log, kinds)) /* written just before the end */
				return STATUS_FINE;
			complain("process %d ended before its dump was whole", process->pid);
			return STATUS_USAGE;
		}
	} while (sleep_before(deadline));
	complain("no whole dump of process %d came to %s within %" PRIu64 " s%s", process->pid,
	         log->name, timeout, find_reason(arena, process, log));
	return STATUS_USAGE;
}

/* Asks PROCESS for a dump and prints it, unless others read it.  KINDS: the dump tells lost from
 * reachable memory. */
static enum status take_dump(struct arena *arena, const struct target_process *process,
                             uint64_t timeout, bool kinds)
{
	enum status status = STATUS_USAGE;
	int turn;

	if (!wait_for_turn(process, timeout, &turn))
		return status;
	struct dump_log log = dump_log_find(arena, process);
	bool asked = dump_log_is_read(&log, process) && ask_for_dump(process, kinds);
	process_end_turn(turn);
	if (asked && log.reader == READ_BY_TOOL) {
		status = wait_for_dump(arena, process, &log, kinds, timeout);
	} else if (asked) {
		complain("the dump of process %d goes to %s, %s", process->pid, log.name, log.what);
		status = STATUS_FINE;
	}
	dump_log_free(&log);
	return status;
}

int command_dump(int argc, char **argv)
{
	static const struct argp_option table[] = {
	        {"kinds", 'k', 0, 0, "Tell lost memory from reachable memory", 0},
	        {0},
	};
	static const struct argp argp = {
	        .options = table,
	        .parser = parse_dump,
	        .children = process_options,
	        .args_doc = "PID",
	        .doc = "Asks a traced process for a dump, waits until it is whole, and prints it."
	               "\vThe process itself says which signal asks it, and where its log is.  The "
	               "program's own handler of the signal does not run.  Nothing is sent to a "
	               "process that is not traced or does not catch the signal.  If all its "
	               "threads block the signal, the command waits.\n\n"
	               "  leakwrap dump PID | leakwrap report",
	};
	struct dump_options options = {.kinds = false};
	struct arena arena = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	struct target_process process = {.pid = (pid_t)options.process.pid};
	enum status status =
	        examine_process(&arena, &process, options.process.signal)
	                ? take_dump(&arena, &process, options.process.timeout, options.kinds)
	                : STATUS_USAGE;
	arena_free(&arena);
	return (int)status;
}
