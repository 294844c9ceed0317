/* torture_report.h - the report of a torture. */
#ifndef TOOLS_TORTURE_TORTURE_REPORT_H
#define TOOLS_TORTURE_TORTURE_REPORT_H

#include "tools/model/suppress.h"
#include "tools/render/render.h"
#include "tools/torture/torture.h"

/* Marks the findings of TORTURE that SUPPRESSIONS cover, by the stack of the finding or of a failed
 * call site.  Names the suppressions that cover nothing.  Call it after symbolize. */
void suppress_findings(struct torture *torture, struct suppressions *suppressions);

/* Returns the number of findings that are not suppressed. */
size_t count_findings(const struct torture *torture);

/* Returns how many attempts had OUTCOME. */
size_t count_outcomes(const struct torture *torture, enum outcome outcome);

/* Write the report of TORTURE to STREAM.  ALL: with all frames, and all call sites of a finding. */
void torture_text(FILE *stream, const struct torture *torture, const struct style *style, bool all);
void torture_json(FILE *stream, const struct torture *torture);
void torture_html(FILE *stream, const struct torture *torture);

void torture_free(struct torture *torture);

#endif
