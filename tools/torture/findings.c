/* findings.c - counts and suppresses findings, see torture_report.h. */
#include "tools/torture/torture_report.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether SUPPRESSION covers FINDING. */
static bool covers(const struct suppression *suppression, const struct finding *finding)
{
	if (strcmp(suppression->kind, finding_names[finding->kind]) != 0)
		return false;
	if (finding->stack && stack_matches(suppression->pattern, finding->stack))
		return true;
	for (size_t i = 0; i < finding->attempt_count; i++)
		if (stack_matches(suppression->pattern, finding->attempts[i]->site->stack))
			return true;
	return false;
}

void suppress_findings(struct torture *torture, struct suppressions *suppressions)
{
	for (size_t i = 0; i < torture->finding_count; i++)
		for (size_t j = 0; j < suppressions->count; j++)
			if (covers(&suppressions->all[j], &torture->findings[i])) {
				suppressions->all[j].used = true;
				torture->findings[i].suppressed = true;
			}
	suppressions_report_unused(suppressions);
}

size_t count_findings(const struct torture *torture)
{
	size_t count = 0;

	for (size_t i = 0; i < torture->finding_count; i++)
		count += !torture->findings[i].suppressed;
	return count;
}

size_t count_outcomes(const struct torture *torture, enum outcome outcome)
{
	size_t count = 0;

	for (size_t i = 0; i < torture->attempt_count; i++)
		count += torture->attempts[i].done && torture->attempts[i].outcome == outcome;
	return count;
}

void torture_free(struct torture *torture)
{
	for (size_t i = 0; i < torture->finding_count; i++)
		free(torture->findings[i].attempts);
	free(torture->findings);
	free(torture->attempts);
	free(torture->before);
	report_free(&torture->report);
}
