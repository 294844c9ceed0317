/* merge.h - the dumps of many processes as one. */
#ifndef TOOLS_MERGE_H
#define TOOLS_MERGE_H

#include "tools/model/view.h"

struct merged {
	size_t dumps, programs;
	size_t crashed, damaged;            /* of the dumps */
	const char *first_time, *last_time; /* or NULL */
};

/* Adds up the call sites and totals of the dumps in LIST, of which each process has one.  Most
 * bytes come first.  Call sites are equal if their frames have the same offsets in modules of the
 * same build-id, or of the same path where the build-id is not known.  Sums stop at INT64_MAX.  The
 * dump lives as long as REPORT, and is not among its dumps. */
const struct dump *merge_dumps(struct report *report, const struct dump_list *list);

#endif
