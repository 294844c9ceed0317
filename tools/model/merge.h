/* merge.h - the dumps of many processes as one. */
#ifndef TOOLS_MODEL_MERGE_H
#define TOOLS_MODEL_MERGE_H

#include "tools/model/spread.h"
#include "tools/model/view.h"

struct merged {
	size_t dumps, programs;
	size_t hosts;                       /* 0: not known */
	size_t series;                      /* processes with several dumps */
	bool by_growth;                     /* only call sites that grew, steadiest growth first */
	size_t crashed, damaged;            /* of the dumps */
	size_t with_kinds;                  /* of the dumps: those that tell lost from reachable */
	const char *first_time, *last_time; /* or NULL */
	/* The last times are in the totals of the sum.  Its peak is the sum of each process's own
	 * peak.  It says what was allocated so far, the peak, and what was allocated since the mark
	 * only if all processes do, and else has a note. */
	const char *first_peak_time, *first_mark_time; /* or NULL */
};

/* Starts an empty sum in the dump_arena of REPORT.  KINDS: only blocks of this set (kinds.h) count
 * for the spread of call sites; 0: all.  Call sites are equal if their frames have the same offsets
 * in modules of the same build-id.  Where the build-id of one is not known, the same path counts,
 * and where its path is not known, the same name.  Its memory is bounded by the number of different
 * call sites. */
struct merger *merge_start(struct report *report, unsigned kinds);

/* Adds a process, which has the dumps LIST in order.  The last dump counts, and the others tell the
 * growth: of each call site the lowest rate in the two halves of the process, times its duration.
 * The dumps may be freed afterwards, but what they share with REPORT may not.  The processes of one
 * HOST, an interned name or NULL, come one after the other. */
void merge_process(struct merger *merger, const struct dump_list *list, const char *host);

/* Frees MERGER and returns the sum, which is not among the dumps of its report.  Most bytes come
 * first, or BY_GROWTH the steadiest growth: of lost memory, then of all.  Sums stop at
 * INT64_MAX. */
struct dump *merge_finish(struct merger *merger, bool by_growth);

/* Adds up the dumps in LIST, of which each process has one. */
const struct dump *merge_dumps(struct report *report, const struct dump_list *list);

#endif
