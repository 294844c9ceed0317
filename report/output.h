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

/* A descriptor for dump NUMBER as the option log= says, or a negative errno value. */
int leakwrap_output_open(unsigned number);

/* Gives back what leakwrap_output_open returned. */
void leakwrap_output_close(int fd);

/* Writes all SIZE bytes.  No signal comes of it: SIGPIPE and SIGXFSZ are blocked and taken back. A
 * descriptor that does not block is waited for, but not for ever.  False when not all could be written. */
bool leakwrap_output_write(int fd, const char *bytes, size_t size);

#endif
