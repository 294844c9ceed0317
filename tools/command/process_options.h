/* process_options.h - the arguments of commands that ask one running process: its PID, --signal and
 * --timeout. */
#ifndef TOOLS_COMMAND_PROCESS_OPTIONS_H
#define TOOLS_COMMAND_PROCESS_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#include "tools/base/memory.h"
#include "tools/process/target_process.h"

struct process_options {
	uint64_t pid;
	uint64_t timeout;   /* in seconds */
	const char *signal; /* the name that the user gives, or NULL */
};

/* The child of such a command's argp, the only one.  Its input is a struct process_options, whose
 * TIMEOUT the child sets at the start.  Ends the tool if there is no PID. */
extern const struct argp_child process_options[];

/* Waits up to TIMEOUT seconds until a request may be sent to PROCESS, and sets *TURN for
 * process_end_turn: PROCESS may be writing another dump.  Returns false after a message. */
bool wait_for_turn(const struct target_process *process, uint64_t timeout, int *turn);

#endif
