/* finding.h - a finding of the audit: what the reports of a program will lack, and why. */
#ifndef TOOLS_AUDIT_FINDING_H
#define TOOLS_AUDIT_FINDING_H

#include <stddef.h>

#include "tools/base/memory.h"

enum severity {
	ESCAPE,  /* allocations are missing from the report */
	QUALITY, /* the report says less than it could */
	NOTE,    /* no mistake, but good to know */
};

struct audit {
	struct arena arena; /* for the text of findings */
	size_t findings[3]; /* how many, by severity */
};

/* Prints and counts a finding.  WHAT was found; what it MEANS for the report; how to MEND it, or
 * NULL. */
void print_finding(struct audit *audit, enum severity severity, const char *what, const char *means,
                   const char *mend);

/* Returns the mend for an allocator that the link must name: FUNCTIONS, as leakwrap-cc(1) writes
 * them.  The text is in ARENA. */
const char *advise_allocator(struct arena *arena, const char *functions);

#endif
