/* dump_log.h - the log to which a process writes the dump that it is asked for. */
#ifndef TOOLS_DUMP_LOG_H
#define TOOLS_DUMP_LOG_H

#include <glob.h>
#include <sys/stat.h>

#include "tools/process/target_process.h"

enum dump_reader {
	READ_BY_TOOL,   /* the log is a file, or will be one */
	READ_BY_OTHERS, /* the log is a terminal, a pipe or a socket */
	READ_BY_NOBODY, /* the log is closed or keeps nothing */
};

/* The files to which the dump may come, and their states before it was asked for. */
struct dump_log {
	enum dump_reader reader;
	const char *name;        /* of the log, for people */
	const char *what;        /* it is, for people; NULL if the tool reads it */
	const char *patterns[4]; /* of glob(3): only the process knows the next %n */
	size_t pattern_count;
	glob_t files;
	int held[4]; /* descriptors of files and folders that must outlive the process */
	size_t held_count;
	struct stat *before; /* of FILES: the dump will stand behind their bytes */
};

/* Finds where the next dump of PROCESS may come.  Call it before the signal is sent.  Strings come
 * from ARENA; dump_log_free releases the rest. */
struct dump_log dump_log_find(struct arena *arena, const struct target_process *process);

/* Returns true if somebody reads LOG of PROCESS, otherwise prints a message. */
bool dump_log_is_read(const struct dump_log *log, const struct target_process *process);

/* Returns the text of the new dump of PROCESS, of *SIZE bytes, which the caller frees.  Returns
 * NULL if the dump is not whole yet. */
char *dump_log_read(const struct target_process *process, const struct dump_log *log, size_t *size);

/* Returns why the dump of PROCESS may not have come to its log, as the end of a message: the
 * process has another root folder, or the log's folder is not there.  Returns "" if neither is
 * known.  Strings come from ARENA. */
const char *dump_log_hint(struct arena *arena, const struct target_process *process);

void dump_log_free(struct dump_log *log);

#endif
