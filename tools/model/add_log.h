/* add_log.h - reads logs into a report. */
#ifndef TOOLS_MODEL_ADD_LOG_H
#define TOOLS_MODEL_ADD_LOG_H

#include "tools/model/model.h"

/* Adds to REPORT the dumps that SELECTOR names: "LOG", "-" (standard input), "LOG@N", "LOG@PID:N",
 * or "LOG@PID:N:K": a process that executes itself counts from 1 again, and so do later processes
 * with its id.  K says which of these dumps is meant, from 1.  Says what is damaged.  Returns
 * false, after a message, if LOG cannot be read or holds no such dump. */
bool report_add(struct report *report, const char *selector);

/* Reads a whole log, "LOG" or "-", and gives TAKE each dump with live blocks.  Dumps of misuse are
 * added to REPORT.  Returns as report_add. */
bool report_read(struct report *report, const char *log, dump_taker *take, void *context);

/* Says that PARSED has the damage DAMAGE, which showed in line LINE of its log. */
void report_damage(const struct parsed_dump *parsed, const char *damage, unsigned long line);

/* Finds the last dump of each process of REPORT.  Call it after the last report_add. */
void report_finish(struct report *report);

#endif
