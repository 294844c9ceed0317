/* read_log.h - from a descriptor to dumps, in pieces: a log may have any size. */
#ifndef TOOLS_READ_LOG_H
#define TOOLS_READ_LOG_H

#include "tools/log/parsed_dump.h"

/* Reads FD, which may be compressed (log_file.h), to its end.  Messages call it LOG.  Gives each
 * dump to TAKE, with CONTEXT, when the dump has ended or its end cannot come any more.  Returns
 * NULL, or what is wrong if reading fails; then TAKE had the dumps before the failure. */
const char *parse_log(int fd, const char *log, dump_taker *take, void *context);

/* Returns what messages call the log PATH: "standard input" for "-", otherwise PATH. */
const char *log_name(const char *path);

/* Reads the file PATH, or standard input for "-", as parse_log does.  Also returns what is wrong if
 * the file cannot be opened. */
const char *parse_file(const char *path, const char *log, dump_taker *take, void *context);

/* Gives each dump in the SIZE bytes at TEXT to TAKE, with CONTEXT. */
void parse_text(const char *text, size_t size, dump_taker *take, void *context);

#endif
