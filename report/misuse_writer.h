/* misuse_writer.h - writes the lines of a dump that show misuse (format.h,
 * wrap/misuse/misuse.h). */
#ifndef LEAKWRAP_MISUSE_WRITER_H
#define LEAKWRAP_MISUSE_WRITER_H

#include "wrap/misuse/misuse.h"
#include "report/line_writer.h"
#include "wrap/unwind/trace.h"

/* A function that writes the lines of TRACE from its frame FIRST on. */
typedef void leakwrap_write_trace(const struct leakwrap_trace *trace, unsigned first);

/* Writes the lines of MISUSE to WRITER.  WRITE_TRACE writes the frames.  TRACE is used to read
 * backtraces; it has room for LEAKWRAP_MAX_DEPTH return addresses.  Signal-safe; called by the
 * thread that writes the dump. */
void leakwrap_misuse_write(struct leakwrap_writer *writer, const struct leakwrap_misuse *misuse,
                           leakwrap_write_trace *write_trace, struct leakwrap_trace *trace);

#endif
