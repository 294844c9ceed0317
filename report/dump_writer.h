/* dump_writer.h - writes the lines of a dump (format.h) from the tables. */
#ifndef LEAKWRAP_DUMP_WRITER_H
#define LEAKWRAP_DUMP_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/signal/crash.h"
#include "wrap/misuse/misuse.h"
#include "report/line_writer.h"

struct leakwrap_kinds_request;

/* What made an unasked dump due. */
struct leakwrap_trigger {
	const char *what;      /* what VALUE measures */
	uint64_t value, bound; /* in bytes; BOUND is the threshold or the last height, or 0 */
};

/* Why a dump is written. */
struct leakwrap_reason {
	const char *name; /* the value of "reason=" (format.h) */
	bool own; /* show only the blocks that the process has allocated since it was forked */
	const struct leakwrap_fault *crash;     /* the fault, or NULL: no crash */
	const struct leakwrap_misuse *misuse;   /* the misuse, or NULL: no misuse */
	const struct leakwrap_trigger *trigger; /* of an unasked dump, or NULL */
	/* The scan that tells lost from reachable memory (kinds_writer.h), or NULL: no kinds. */
	const struct leakwrap_kinds_request *kinds;
};

/* Writes dump NUMBER for REASON to the descriptor FD.  Starts and finishes WRITER.  EARLIER_LOST:
 * an earlier dump of the process could not be written whole.  Returns whether the whole dump was
 * written.  REASON stays the caller's.  Signal-safe; the caller has blocked all signals, and sees
 * to it that one dump is written at a time. */
bool leakwrap_dump_write(struct leakwrap_writer *writer, int fd, unsigned number, bool earlier_lost,
                         const struct leakwrap_reason *reason);

#endif
