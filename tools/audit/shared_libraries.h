/* shared_libraries.h - the allocations inside the shared libraries of a linked program. */
#ifndef TOOLS_AUDIT_SHARED_LIBRARIES_H
#define TOOLS_AUDIT_SHARED_LIBRARIES_H

#include "tools/audit/finding.h"
#include "tools/elf/program.h"

/* Finds allocations that shared libraries make unseen. */
void check_libraries(struct audit *audit, const struct program *program);

#endif
