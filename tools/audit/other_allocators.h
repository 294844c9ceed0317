/* other_allocators.h - the calls of allocators of another name that lie in shared libraries. */
#ifndef TOOLS_AUDIT_OTHER_ALLOCATORS_H
#define TOOLS_AUDIT_OTHER_ALLOCATORS_H

#include "tools/audit/finding.h"
#include "tools/elf/program.h"

/* Finds the calls, of allocators of another name in shared libraries, that the tracer does not see:
 * those of PROGRAM itself and, if it traces its shared libraries, theirs.  PROGRAM has symbols. */
void check_other_allocators(struct audit *audit, const struct program *program);

#endif
