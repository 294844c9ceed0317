/* failure_writer.h - writes the lines of a dump about allocations that were made to fail, see
 * format.h. */
#ifndef LEAKWRAP_FAILURE_WRITER_H
#define LEAKWRAP_FAILURE_WRITER_H

#include "report/misuse_writer.h"

/* Writes the failures, and with fail=list the call sites that were reached, to WRITER.  Writes
 * nothing if there were none.  WRITE_TRACE writes a backtrace.  TRACE is for the backtraces, and
 * has room for LEAKWRAP_MAX_DEPTH return addresses. */
void leakwrap_failures_write(struct leakwrap_writer *writer, leakwrap_write_trace *write_trace,
                             struct leakwrap_trace *trace);

#endif
