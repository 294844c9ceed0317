/* spread.h - how the call sites of a sum of dumps (merge.h) spread over its processes. */
#ifndef TOOLS_MODEL_SPREAD_H
#define TOOLS_MODEL_SPREAD_H

#include "tools/model/totals.h"

/* The dumps of one process that count for its growth, at most three. */
enum point { POINT_FIRST, POINT_MIDDLE, POINT_LAST, POINTS };

/* A process of a sum. */
struct merged_process {
	unsigned long pid;
	const char *log, *host; /* HOST is NULL if it is not known */
	bool grows;             /* it has several dumps */
	bool has_kinds;         /* those of them that count for its growth tell their kinds */
	int64_t times[POINTS];  /* of its first, its middle and its last dump, see find_middle */
	struct most_hidden
	        hidden[POINTS]; /* by these dumps, at a call site that they do not show */
};

/* How a call site of a sum spreads over the processes. */
struct spread {
	unsigned processes, hosts;            /* that have it */
	uint64_t least, most;                 /* its live bytes in one of these processes */
	const struct merged_process *most_in; /* the process with MOST */
	unsigned grew_in;                     /* processes in which its bytes became more */
	int64_t gained_bytes; /* from the first to the last dumps; negative: it shrank */
	int64_t steady_bytes; /* the steady part of it, see merge_process */
	int64_t gained_blocks;
	/* The same of what is definitely lost, with what these blocks lead to; of the processes
	 * whose dumps tell it. */
	int64_t lost_gained_bytes, lost_steady_bytes;
};

/* The spread of a call site so far.  PROCESS is not yet in it: its dumps are being added. */
struct site_sum {
	struct spread spread;
	const struct merged_process *process; /* or NULL */
	uint64_t at[POINTS], lost_at[POINTS]; /* bytes in the dumps of PROCESS */
	uint64_t blocks_at[POINTS];
	/* Lines of the dumps that show it, and lines like them that lack frames. */
	unsigned parts[POINTS], lacking[POINTS];
	bool is_live;          /* it has live blocks in the last of them */
	const char *last_host; /* of the processes before PROCESS */
};

/* Makes PROCESS, which is not NULL, the process of SUM, whose dumps are still to be added.  The
 * process before it is finished. */
void start_process(struct site_sum *sum, const struct merged_process *process);

/* Adds the process of SUM, whose bytes are complete, to the spread.  Does nothing without one. */
void finish_process(struct site_sum *sum);

#endif
