/* add_log.h - reads logs into a report. */
#ifndef TOOLS_ADD_LOG_H
#define TOOLS_ADD_LOG_H

#include "tools/model/model.h"

/* Adds to REPORT the dumps that SELECTOR names: "LOG", "-" (standard input), "LOG@N" or
 * "LOG@PID:N".  Says what is damaged.  Returns false, after a message, if LOG cannot be read or
 * holds no such dump. */
bool report_add(struct report *report, const char *selector);

/* Finds the last dump of each process of REPORT.  Call it after the last report_add. */
void report_finish(struct report *report);

#endif
