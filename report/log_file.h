/* log_file.h - opens the descriptor that a dump goes to, as the option log= has it.
 *
 * All functions but leakwrap_log_start are signal-safe. */
#ifndef LEAKWRAP_LOG_FILE_H
#define LEAKWRAP_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers the names of the program and the host.  Called at start. */
void leakwrap_log_start(void);

/* Copies the option log= to the SIZE bytes at PATTERN, with these names in the place of %e and %h,
 * and a NUL.  Stores "" if that does not fit. */
void leakwrap_log_pattern(char *pattern, size_t size);

/* Opens the log for dump NUMBER.  Returns its descriptor, or a negative errno value.  The caller
 * passes the descriptor to leakwrap_log_close.  One thread at a time. */
int leakwrap_log_open(unsigned number);

/* Returns the path that the last leakwrap_log_open has tried, or the option log= if that is no path
 * or too long a path.  Valid until the next leakwrap_log_open. */
const char *leakwrap_log_path(void);

/* Returns whether the log was larger than log_max= at the last leakwrap_log_open, and renaming it
 * failed. */
bool leakwrap_log_is_outgrown(void);

/* Closes FD, which leakwrap_log_open returned, unless it is standard error. */
void leakwrap_log_close(int fd);

#endif
