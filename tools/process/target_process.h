/* target_process.h - the process that is asked for a dump: what must be known before a signal may
 * be sent to it.
 */
#ifndef TOOLS_PROCESS_TARGET_PROCESS_H
#define TOOLS_PROCESS_TARGET_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/base/memory.h"

struct target_process {
	pid_t pid;                /* as this command sees it; the caller sets it */
	unsigned long inner_pid;  /* as the process itself sees it, perhaps in a container */
	const char *options;      /* its LEAKWRAP_OPTIONS, "" if not set; only if !ANNOUNCED */
	const char *started_in;   /* its PWD, "" if not known; only if !ANNOUNCED */
	int signal;               /* the dump signal */
	const char *log;          /* the path pattern, or "stderr" */
	bool announced;           /* SIGNAL and LOG are from the announcement in its memory */
	bool announces_recording; /* the next three are known */
	bool announces_kinds;     /* KINDS is known */
	bool announces_needs_all; /* NEEDS_ALL is known */
	bool record;              /* recording is on */
	uint32_t marks;           /* so far */
	uint32_t sample;          /* the interval of sampling in bytes, or 0 */
	uint32_t kinds;           /* the option kinds=, as a number of request.h */
	uint32_t needs_all;       /* an enum leakwrap_needs_all, 0 if it is not known */
};

/* Fills in PROCESS, whose PID is set, and checks that it handles its dump signal.
 *
 * ASSUMED_SIGNAL is the signal that the user names for a process that does not announce it, or
 * NULL.  Strings come from ARENA.  Returns false after a message if no signal may be sent. */
bool examine_process(struct arena *arena, struct target_process *process,
                     const char *assumed_signal);

/* Returns true if a request may be sent to PROCESS now, and sets *TURN for process_end_turn.  Until
 * then no other command of this tool may send one: what comes of the request is its own.
 *
 * Returns false if the request would have to wait.  While a dump is written, the handler may block
 * the signal for all threads.  Then one request waits, and the system loses others. */
bool process_take_turn(const struct target_process *process, int *turn);

void process_end_turn(int turn);

/* Sends the dump signal to PROCESS.  KINDS: for a dump that tells lost from reachable memory.
 * Returns false after a message. */
bool ask_for_dump(const struct target_process *process, bool kinds);

/* Says why no request could be sent to PROCESS for SECONDS: no thread took the dump signal, or
 * another command had its turn. */
void complain_of_no_turn(const struct target_process *process, double seconds);

/* Reads again what PROCESS announces.  Returns false if that cannot be read, or if no thread takes
 * the dump signal now: its handler may be running. */
bool reexamine_process(struct arena *arena, struct target_process *process);

/* Returns true if PROCESS has a seccomp filter (proc(5)). */
bool has_filter(struct arena *arena, const struct target_process *process);

/* Returns the path in /proc of the file NAME of process PID, from ARENA.  If the main thread has
 * ended, it is that of another thread: the files of a thread that has ended show no memory, no
 * program and no folders. */
const char *process_path(struct arena *arena, pid_t pid, const char *name);

/* Returns true if the program of process PID, or one of its libraries, holds the tracer and this
 * user may see it. */
bool process_is_traced(pid_t pid);

/* Returns the name of the program of process PID: the first word of its command line if
 * FROM_COMMAND, otherwise its file, without folders.  Returns "" if that cannot be read.  The
 * string is ARENA's. */
const char *process_name(struct arena *arena, pid_t pid, bool from_command);

/* Reads the file /proc/PID/NAME.  Returns its bytes with a NUL behind them, from ARENA, and their
 * number in *SIZE.  Returns NULL with errno set if the file cannot be opened. */
char *read_process_file(struct arena *arena, pid_t pid, const char *name, size_t *size);

#endif
