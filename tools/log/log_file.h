/* log_file.h - the bytes of a log, which may be compressed by gzip or zstd. */
#ifndef TOOLS_LOG_LOG_FILE_H
#define TOOLS_LOG_LOG_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Returns a reader of FD, which stays open and is the caller's.  The first bytes tell whether the
 * log is compressed, so FD may be a pipe. */
struct log_file *log_file_start(int fd);

/* Reads at most SIZE bytes of the log into BYTES.  Returns their number, 0 at the end of the log,
 * and -1 after an error.  The bytes before an error are returned first. */
ssize_t log_file_read(struct log_file *file, char *bytes, size_t size);

/* Returns what is wrong after an error, a constant. */
const char *log_file_error(const struct log_file *file);

void log_file_end(struct log_file *file);

#endif
