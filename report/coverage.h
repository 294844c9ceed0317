/* coverage.h - writes which part of the process is traced. */
#ifndef LEAKWRAP_COVERAGE_H
#define LEAKWRAP_COVERAGE_H

#include "report/line_writer.h"

/* Writes the lines "coverage" and "bypass" (format.h).  Signal-safe; called by the thread that
 * writes the dump. */
void leakwrap_coverage_write(struct leakwrap_writer *writer);

#endif
