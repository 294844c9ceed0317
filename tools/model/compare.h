/* compare.h - what changed between two dumps, and what grows over many.
 *
 * The runtime's options top= and min_bytes= leave call sites out of a dump, and a damaged dump may
 * have lost some.  What such a dump has at a call site that it does not show is not known.  Nor is
 * the call site of a stack that lacks frames: it counts as one that the dump does not show.
 */
#ifndef TOOLS_MODEL_COMPARE_H
#define TOOLS_MODEL_COMPARE_H

#include "tools/model/view.h"

/* -- two dumps --------------------------------------------------------------------------------- */

struct change {
	const struct stack *stack; /* the new dump's where it has one */
	const struct dump *dump;   /* that STACK is from */
	uint64_t old_bytes, new_bytes, old_blocks, new_blocks;
	struct reach_sums old_reach, new_reach; /* known if the dump tells its kinds */
	int64_t bytes_error;                    /* the change's standard error, or -1: exact */
	bool may_be_chance;                     /* it is within twice the error */
	/* One of the dumps may not show all that it has here, and its numbers are the most that it
	 * may have.  The kinds are not known. */
	bool is_least;
	unsigned old_parts, new_parts; /* compare.c's own: call sites that are shown */
};

struct changes {
	const struct dump *old, *new;
	/* Those whose lost memory grew most come first, then those that grew most; what may be
	 * chance is last, and unchanged call sites are left out. */
	struct change *all;
	size_t count;
	size_t unchanged;
	size_t uncompared;   /* those that one dump may not show, and that may be unchanged */
	int64_t bytes_error; /* the standard error of the change of all live bytes, or -1: exact */
};

/* Matches the call sites of two dumps.  In a module of the same build-id in both, frames match
 * by their offsets.  In other modules they match by their functions, so that two builds compare
 * too.
 *
 * A call site that one dump may not show is a change only if it changed whatever that dump had
 * there. */
struct changes compare_dumps(struct report *report, const struct dump *old, const struct dump *new);

/* Returns true if a difference of BYTES live and LOST bytes between two dumps shows nothing: it is
 * within twice the standard ERROR.  -1: it is exact. */
bool is_chance(int64_t bytes, int64_t lost, int64_t error);

/* Returns "grew", "shrank", "appeared" or "vanished"; "kept" if only the kinds of its blocks have
 * changed. */
const char *change_name(const struct change *change);

/* -- a series ---------------------------------------------------------------------------------- */

enum { SPANS_MAX = 4 };

/* Bytes that grow: at the ends of the spans of a series, and what grows of them steadily. */
struct curve {
	int64_t at[SPANS_MAX + 1];
	int64_t steady;
};

/* The growth of a call site, or of all call sites of a group, over the dumps of one process.
 *
 * The series is cut into at most SPANS_MAX spans of about the same duration.  The steady growth is
 * the lowest rate of growth in any span, times the duration of the series.  A leak gains in each
 * span.  A cache that fills up, or one burst, gains nothing in some span.
 *
 * If a dump may have a call site without showing it, the growth of the call site begins at the next
 * dump.  If that is the last one, it begins with the most that the dump may have had.
 */
struct growth {
	const struct stack *stack;                 /* NULL for a group */
	const char *name;                          /* of the group, or NULL */
	const struct dump *first_dump, *last_dump; /* of the growth */
	const struct dump *process_start;          /* the first dump of the process */
	/* FIRST_BYTES and FIRST_BLOCKS are the most that there may have been. */
	bool is_least;
	uint64_t first_bytes, last_bytes, first_blocks, last_blocks;
	int64_t bytes_error; /* the standard error of the growth, or -1: exact */
	bool may_be_chance;  /* it is within twice the error */
	struct reach_sums first_reach, last_reach; /* known if both dumps tell their kinds */
	struct curve live;
	struct curve lost; /* definitely, with what these blocks lead to; if the kinds are known */
	unsigned spans;
	bool has_kinds; /* all dumps at the ends of the spans tell them */
	/* growth.c's own: */
	size_t subject;
	unsigned hidden_parts; /* call sites that its first dump may hide */
};

struct growths {
	/* Steadiest growth of lost memory first, then steadiest growth, then what may be chance;
	 * only what grew.  The caller's to free. */
	struct growth *all;
	size_t count, room;
	size_t series;      /* processes with at least two dumps */
	size_t uncompared;  /* call sites that dumps may not show, and that may not have grown */
	size_t damaged;     /* of the dumps at the ends of the spans */
	enum group_kind by; /* GROUP_NONE: each entry is a call site */
};

/* Returns by how many bytes GROWTH has lost more, definitely and with what these blocks lead to; 0
 * if it has not, or if its kinds are not known. */
int64_t lost_growth(const struct growth *growth);

/* Finds what grew in each process of REPORT that has at least two dumps.  BY adds up the call sites
 * whose memory one function, file, module or member asked for. */
struct growths find_growth(struct report *report, enum group_kind by);

#endif
