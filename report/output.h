/* output.h - writes bytes to a descriptor.
 *
 * All functions but leakwrap_output_start are signal-safe. */
#ifndef LEAKWRAP_OUTPUT_H
#define LEAKWRAP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers the file of descriptor 2.  Called at start, before the program can change it. */
void leakwrap_output_start(void);

/* Returns whether a dump may be written to descriptor 2.  It may if the descriptor is on the file
 * that it was on at start, is a terminal or a pipe, or is open for appending.  Else the program
 * may have closed it, and the descriptor may be the program's data file. */
bool leakwrap_output_stderr_is_usable(void);

/* A descriptor that lines are written to. */
struct leakwrap_output {
	int fd;
	/* It may be full for a while, as a pipe, a terminal or a socket: it is no regular file. */
	bool waits;
	bool was_pending[2]; /* were SIGPIPE and SIGXFSZ pending before the first write? */
};

/* Fills TARGET for writes to FD by this thread.  The thread has blocked all signals, and keeps them
 * blocked until the last write. */
void leakwrap_output_begin(struct leakwrap_output *target, int fd);

/* Writes the SIZE bytes at BYTES.  Waits for a descriptor that takes no more bytes, 10 seconds for
 * each write.  Discards a SIGPIPE or SIGXFSZ that the write raises.  Returns 0, or an errno value
 * if not all bytes could be written: ETIMEDOUT if the descriptor took none for too long. */
int leakwrap_output_write(const struct leakwrap_output *target, const char *bytes, size_t size);

#endif
