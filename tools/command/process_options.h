/* process_options.h - the arguments of commands that ask one running process: its PID, --signal and
 * --timeout. */
#ifndef TOOLS_PROCESS_OPTIONS_H
#define TOOLS_PROCESS_OPTIONS_H

#include <argp.h>
#include <stdint.h>

struct process_options {
	uint64_t pid;
	uint64_t timeout;   /* in seconds */
	const char *signal; /* the name that the user gives, or NULL */
};

/* The child of such a command's argp, the only one.  Its input is a struct process_options, whose
 * TIMEOUT the child sets at the start.  Ends the tool if there is no PID. */
extern const struct argp_child process_options[];

#endif
