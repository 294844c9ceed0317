/* read_log.h - from a file to dumps, in pieces: a log may have any size. */
#ifndef TOOLS_LOG_READ_LOG_H
#define TOOLS_LOG_READ_LOG_H

#include "tools/log/parsed_dump.h"

/* Returns what messages call the log PATH: "standard input" for "-", otherwise PATH.  A PATH of no
 * characters, as of a shell's variable that is not set, has a name, too. */
const char *log_name(const char *path);

/* Reads the file PATH, or standard input for "-", to its end.  It may be compressed (log_file.h).
 * Messages call it LOG.  Gives each dump to TAKE, with CONTEXT, when the dump has ended or its end
 * cannot come any more.  Returns NULL, or what is wrong if the file cannot be opened or reading
 * fails: TAKE has got the dumps before the failure. */
const char *parse_file(const char *path, const char *log, dump_taker *take, void *context);

/* Gives each dump in the SIZE bytes at TEXT to TAKE, with CONTEXT. */
void parse_text(const char *text, size_t size, dump_taker *take, void *context);

#endif
