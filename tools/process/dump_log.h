/* dump_log.h - the log to which a process writes the dump that it is asked for. */
#ifndef TOOLS_PROCESS_DUMP_LOG_H
#define TOOLS_PROCESS_DUMP_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "tools/base/memory.h"
#include "tools/process/target_process.h"

enum dump_reader {
	READ_BY_TOOL,   /* the log is a file, or will be one */
	READ_BY_OTHERS, /* the log is a terminal, a pipe or a socket */
	READ_BY_NOBODY, /* the log is closed or keeps nothing */
};

/* How far a file was searched for the dump. */
struct dump_search {
	off_t at; /* at first the size before the dump was asked for: the dump stands behind */
	/* The file's first bytes.  A new file may have the inode of a file that was removed. */
	char head[128];
	size_t head_size;
	struct stat before; /* the file's status at the first look */
	bool was_truncated; /* since the first look */
};

/* The files to which the dump may come. */
struct dump_log {
	enum dump_reader reader;
	const char *name;        /* of the log, for people */
	const char *what;        /* it is, for people; NULL if the tool reads it */
	const char *patterns[8]; /* of glob(3): only the process knows the next %n */
	size_t pattern_count;
	int held[4]; /* descriptors of files and folders that must outlive the process */
	size_t held_count;
	struct dump_search *searches; /* a file for each; the file may be renamed */
	size_t search_count, search_room;
};

/* Finds where the next dump of PROCESS may come.  Call it before the signal is sent.  Strings come
 * from ARENA; dump_log_free releases the rest. */
struct dump_log dump_log_find(struct arena *arena, const struct target_process *process);

/* Returns true if somebody reads LOG of PROCESS, otherwise prints a message. */
bool dump_log_is_read(const struct dump_log *log, const struct target_process *process);

/* Returns the text of the new dump of PROCESS, of *SIZE bytes, which the caller frees.  KINDS: the
 * dump was asked to tell lost from reachable memory, and one without that is another's.  Returns
 * NULL if the dump is not whole yet, or for now if other bytes in front of it take long to read. */
char *dump_log_read(const struct target_process *process, struct dump_log *log, bool kinds,
                    size_t *size);

/* Returns true if a file of LOG seems to have been truncated since dump_log_find: the dump may have
 * been in it. */
bool dump_log_was_truncated(const struct dump_log *log);

void dump_log_free(struct dump_log *log);

#endif
