/* misuse_writer.h - the lines of a dump that tell of misuse (format.h, wrap/misuse/misuse.h). */
#ifndef LEAKWRAP_MISUSE_WRITER_H
#define LEAKWRAP_MISUSE_WRITER_H

#include "wrap/misuse/misuse.h"
#include "report/line_writer.h"
#include "wrap/unwind/unwind.h"

/* Writes the lines of TRACE, from its frame FIRST on. */
typedef void leakwrap_write_trace(const struct leakwrap_trace *trace, unsigned first);

/* Writes the lines of MISUSE, the frames by BACKTRACE from TRACE, which has room for the backtrace of any call site.  Signal-safe;
 * one thread at a time. */
void leakwrap_misuse_write(struct leakwrap_writer *writer, const struct leakwrap_misuse *misuse,
                           leakwrap_write_trace *backtrace, struct leakwrap_trace *trace);

#endif
