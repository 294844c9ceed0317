/* log_file.h - opens the descriptor that a dump goes to, as the option log= has it.
 *
 * All functions but leakwrap_log_start are signal-safe. */
#ifndef LEAKWRAP_LOG_FILE_H
#define LEAKWRAP_LOG_FILE_H

#include <stddef.h>

/* Remembers the program's name.  Called at start. */
void leakwrap_log_start(void);

/* Copies the option log= to the SIZE bytes at PATTERN, with the program's name in the place of %e,
 * and a NUL.  Stores "" if that does not fit. */
void leakwrap_log_pattern(char *pattern, size_t size);

/* Opens the log for dump NUMBER.  Returns its descriptor, or a negative errno value.  The caller
 * passes the descriptor to leakwrap_log_close.  One thread at a time. */
int leakwrap_log_open(unsigned number);

/* Closes FD, which leakwrap_log_open returned, unless it is standard error. */
void leakwrap_log_close(int fd);

#endif
