/* copy_dump.h - from a parsed dump to a dump of the model. */
#ifndef TOOLS_MODEL_COPY_DUMP_H
#define TOOLS_MODEL_COPY_DUMP_H

#include "tools/model/model.h"

/* Returns a copy of PARSED that lives as long as the arena for dumps of REPORT.  It is not yet
 * among the dumps of REPORT; its modules, locations and stacks are in REPORT.  A frame that
 * contradicts its module ends its stack, and the copy is damaged. */
struct dump *copy_dump(struct report *report, const struct parsed_dump *parsed);

#endif
