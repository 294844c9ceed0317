/* quality.h - how much the reports of a linked program can say. */
#ifndef TOOLS_AUDIT_QUALITY_H
#define TOOLS_AUDIT_QUALITY_H

#include "tools/audit/finding.h"
#include "tools/elf/program.h"

/* Finds what makes reports say less than they could. */
void check_quality(struct audit *audit, const struct program *program);

#endif
