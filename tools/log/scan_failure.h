/* scan_failure.h - reads the line of a call site where an allocation was made to fail. */
#ifndef TOOLS_LOG_SCAN_FAILURE_H
#define TOOLS_LOG_SCAN_FAILURE_H

#include "tools/log/parsed_dump.h"
#include "tools/log/scan.h"

/* Reads "1: hit=1 bytes=40 identity=0x8d1c67f2a3b4c5d6", what follows "failed " in C, to *FAILURE.
 * Behind "reached " the line has "hits=".  Returns false if C is damaged. */
bool scan_failure(struct cursor c, struct parsed_failure *failure);

#endif
