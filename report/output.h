/* output.h - the descriptor that a dump goes to, and the write itself.  Signal-safe. */
#ifndef LEAKWRAP_OUTPUT_H
#define LEAKWRAP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers what descriptor 2 is; called at start, before the program can change it. */
void leakwrap_output_start(void);

/* May a dump be written to descriptor 2?  Only while it is what it was at start, or is a terminal, a pipe or
 * open for appending: after close(2) it may be the program's data file. */
bool leakwrap_output_stderr_is_usable(void);

/* Writes the option log= to PATTERN, of SIZE bytes, with the program's name in the place of %e; ""
 * if that does not fit. */
void leakwrap_output_pattern(char *pattern, size_t size);

/* A descriptor for dump NUMBER as the option log= says, or a negative errno value. */
int leakwrap_output_open(unsigned number);

/* Gives back what leakwrap_output_open returned. */
void leakwrap_output_close(int fd);

/* Where text goes: a descriptor, and what is known of it. */
struct leakwrap_target {
	int fd;
	bool waits; /* it may be full for a while, as a pipe, a terminal or a socket: no regular file */
	bool was_pending[2]; /* SIGPIPE and SIGXFSZ, before the first write */
};

/* Fills TARGET for writes to FD by this thread.  It has blocked all signals, and keeps them blocked until the last of these. */
void leakwrap_output_begin(struct leakwrap_target *target, int fd);

/* Writes all SIZE bytes.  No signal comes of it: SIGPIPE and SIGXFSZ are taken back.  A descriptor that does not take more is
 * waited for, but not for ever.  False when not all could be written. */
bool leakwrap_output_write(const struct leakwrap_target *target, const char *bytes, size_t size);

#endif
