/* runner.h - runs programs side by side, each with a time limit, and leaves no process behind.
 *
 * The tool becomes the subreaper of all that it starts (prctl(2)): whatever a program leaves
 * running becomes a child of the tool, which ends it.
 */
#ifndef TOOLS_TORTURE_RUNNER_H
#define TOOLS_TORTURE_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process that is running. */
struct running {
	pid_t pid;
	void *context; /* the caller's */
	uint64_t started, deadline;
	bool timed_out; /* it was told to end, by SIGABRT */
};

struct runner {
	uint64_t limit; /* how long a process may run, in nanoseconds */
	struct running *all;
	size_t count, room;
	/* What this process leaves running in its process group is not killed when it ends.  It may
	 * be a child for an attempt, which has no group of its own yet.  0: none. */
	pid_t spared;
	int input;    /* the standard input of each process is the content of this file; -1: none */
	bool stopped; /* the user has interrupted the tool */
};

/* How a process has ended. */
struct ended {
	pid_t pid;
	void *context; /* NULL: the process was not started by the runner */
	int status;    /* as of waitpid(2) */
	bool timed_out;
	uint64_t ns; /* how long it ran */
};

/* Prepares the tool for runners, whose members are 0 at first but for INPUT and LIMIT.  From now on
 * SIGCHLD, SIGINT and SIGTERM are blocked. */
void runner_start(void);

/* Starts ARGV with the environment variable LEAKWRAP_OPTIONS set to OPTIONS, in a process group of
 * its own.  What it writes to standard output and standard error is discarded.  Returns its process
 * id.  Ends the tool with a message if the program cannot be started. */
pid_t runner_run(struct runner *runner, char *const *argv, const char *options, void *context);

/* Counts PID, which has become a child of the tool, among the processes of RUNNER.  It started at
 * the time STARTED of CLOCK_MONOTONIC, in nanoseconds. */
void runner_adopt(struct runner *runner, pid_t pid, uint64_t started, void *context);

/* Waits until a process ends, at most NANOSECONDS.  Ends processes that have reached their
 * deadlines: by SIGABRT, after which a traced program says where it was, then by SIGKILL.  Returns
 * false if no process has ended, or the user has interrupted the tool. */
bool runner_wait(struct runner *runner, uint64_t nanoseconds, struct ended *ended);

/* Ends all processes, and frees what RUNNER points to. */
void runner_end(struct runner *runner);

#endif
