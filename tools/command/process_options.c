/* process_options.c - see process_options.h. */
#include "tools/command/process_options.h"

#include "tools/base/clock.h"
#include "tools/base/numbers.h"
#include "tools/command/options.h"
#include "tools/process/signal_name.h"

enum { DEFAULT_TIMEOUT = 10 }; /* seconds */

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct process_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		options->timeout = DEFAULT_TIMEOUT;
		break;
	case 't':
		options->timeout = option_seconds(state, "timeout", argument, 0);
		break;
	case 's':
		options->signal = argument;
		if (signal_number(argument) <= 0)
			argp_error(state, "--signal=%s: not a signal", argument);
		break;
	case ARGP_KEY_ARG:
		if (options->pid)
			argp_error(state, "%s: one argument too many", argument);
		if (!parse_number(argument, &options->pid) || options->pid == 0 ||
		    options->pid > INT32_MAX)
			argp_error(state, "%s: not a process id", argument);
		break;
	case ARGP_KEY_END:
		if (!options->pid)
			argp_error(state, "PID is missing");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option table[] = {
        {"signal", 's', "NAME", 0,
         "The dump signal of a process whose memory this user may not read (USR1, RTMIN+3)", 0},
        {"timeout", 't', "SECONDS", 0, "How long to wait for the process (default 10)", 0},
        {0},
};

static const struct argp process_argp = {.options = table, .parser = parse_option};

const struct argp_child process_options[] = {{&process_argp, 0, NULL, 0}, {0}};

bool wait_for_turn(const struct target_process *process, uint64_t timeout, int *turn)
{
	const uint64_t deadline = deadline_after(timeout);

	while (!process_take_turn(process, turn)) {
		if (!sleep_before(deadline)) {
			complain_of_no_turn(process, (double)timeout);
			return false;
		}
	}
	return true;
}
