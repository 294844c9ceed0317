/* dump_writer.h - the lines of a dump (format.h), from the tables.  Signal-safe; one dump at a time. */
#ifndef LEAKWRAP_DUMP_WRITER_H
#define LEAKWRAP_DUMP_WRITER_H

#include <stdbool.h>

#include "wrap/signal/crash.h"
#include "wrap/misuse/misuse.h"
#include "report/line_writer.h"

/* Bytes of the longest path of the program, or of the log, in a line. */
#define LEAKWRAP_PATH_LIMIT 2048

/* Why there is a dump; what the reason is not about is NULL. */
struct leakwrap_reason {
	const char *name; /* as format.h has it */
	bool own;         /* only of blocks that the process has allocated since it was forked */
	const struct leakwrap_fault *crash;
	const struct leakwrap_misuse *misuse;
};

/* Writes dump NUMBER by WRITER, which this starts and finishes, to FD.  EARLIER_LOST: dumps before it could not be written
 * whole.  Signals are blocked.  Returns whether all of it has been written. */
bool leakwrap_dump_write(struct leakwrap_writer *writer, int fd, unsigned number, bool earlier_lost,
                         const struct leakwrap_reason *reason);

#endif
