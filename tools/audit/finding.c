/* finding.c - see finding.h. */
#include "tools/audit/finding.h"

#include <stdio.h>

void print_finding(struct audit *audit, enum severity severity, const char *what, const char *means,
                   const char *mend)
{
	static const char *const names[] = {"escape", "quality", "note"};
	audit->findings[severity]++;
	printf("%s: %s\n        %s\n", names[severity], what, means);
	if (mend)
		printf("        mend: %s\n", mend);
}

const char *advise_allocator(struct arena *arena, const char *functions)
{
	return arena_format(
	        arena, "leakwrap cc --allocator='%s' -- ...; in make LEAKWRAP_ALLOCATORS := %s",
	        functions, functions);
}
