/* escapes.h - the calls of a linked program that go past the wrappers. */
#ifndef TOOLS_AUDIT_ESCAPES_H
#define TOOLS_AUDIT_ESCAPES_H

#include "tools/audit/finding.h"
#include "tools/elf/program.h"

/* Finds what goes past the wrappers, and allocators that the program defines.  PROGRAM must have
 * symbols. */
void check_escapes(struct audit *audit, struct program *program);

#endif
