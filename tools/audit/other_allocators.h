/* other_allocators.h - the calls of allocators of another name that lie in shared libraries. */
#ifndef TOOLS_AUDIT_OTHER_ALLOCATORS_H
#define TOOLS_AUDIT_OTHER_ALLOCATORS_H

#include "tools/audit/finding.h"
#include "tools/elf/program.h"

/* Finds allocators of another name, in shared libraries, that PROGRAM calls unseen, or if it traces
 * the calls of its shared libraries, one of these.  PROGRAM has symbols. */
void check_other_allocators(struct audit *audit, const struct program *program);

#endif
