/* store.h - the modules, locations and stacks of a report, each stored once, and its dumps. */
#ifndef TOOLS_MODEL_STORE_H
#define TOOLS_MODEL_STORE_H

#include "tools/model/model.h"

/* Returns the module of REPORT with PATH and BUILD_ID, which may be NULL.  Adds it if it is new. */
struct module *add_module(struct report *report, const char *path, const char *build_id);

/* Returns the location of REPORT that FRAME names in MODULE, which may be NULL.  Adds it if it is
 * new. */
const struct location *add_location(struct report *report, struct module *module,
                                    const struct parsed_frame *frame);

/* Returns the stack of REPORT that is the DEPTH locations AT, innermost first.  Adds it if it is
 * new. */
struct stack *add_stack(struct report *report, const struct location **at, size_t depth);

/* Returns a stack of the DEPTH locations AT that is not among the stacks of REPORT, and lives as
 * long. */
struct stack *make_stack(struct report *report, const struct location **at, size_t depth);

/* Adds DUMP to the dumps of REPORT. */
void store_dump(struct report *report, struct dump *dump);

/* Returns the dump of process id PID that REPORT got last, or NULL. */
const struct dump *latest_with_pid(const struct report *report, unsigned long pid);

#endif
