/* rotated.h - the order of a log's parts. */
#ifndef TOOLS_LOG_ROTATED_H
#define TOOLS_LOG_ROTATED_H

#include <stdbool.h>
#include <stddef.h>

/* Sorts the parts of each log that was rotated, the oldest first, and leaves the other LOGS where
 * they are.  server.log.2.gz, server.log.1 and server.log are parts of one log, and so are
 * server.log-20261127 and server.log.  server.1.log is a part of server.log, which is one of LOGS
 * (logrotate's option extension=).
 *
 * server.log itself may be missing: a process makes it for its first dump after the rotation.  Then
 * the logs are read: numbers count rotations if a log begins with a later dump than the first of
 * its process.  The option log= may end in the number of a dump or a process, and such logs are no
 * parts. */
void sort_rotated(const char **logs, size_t count);

/* LACKS says which of the COUNT LOGS hold no dump.  Returns true if one of these is no part of a
 * rotated log, or all parts of its log lack dumps.  logrotate's create makes a new log, which stays
 * empty until the next dump. */
bool has_log_without_dumps(const char *const *logs, const bool *lacks, size_t count);

#endif
