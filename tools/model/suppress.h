/* suppress.h - call sites that the user knows of, in the format of LeakSanitizer.
 *
 * A line "leak:PATTERN" covers the call sites with a frame whose function, source file or module
 * contains PATTERN.  In PATTERN, * matches anything, ^ anchors the start and $ the end.  A line
 * that begins with # is a comment.
 *
 * "leak[KINDS]:PATTERN" covers of these call sites what is of KINDS alone, "definite,possible".  A
 * definitely lost block is covered with what it leads to.  Dumps that do not tell kinds have no
 * such memory.
 *
 * Lines "crash:PATTERN", "abort:", "killed:", "hang:" and "misuse:" cover findings of leakwrap
 * torture.
 */
#ifndef TOOLS_MODEL_SUPPRESS_H
#define TOOLS_MODEL_SUPPRESS_H

#include "tools/model/model.h"

struct suppression {
	const char *kind;    /* "leak", "crash" ... */
	unsigned leak_kinds; /* of leaks, a set */
	const char *pattern;
	const char *file; /* of the pattern */
	unsigned long line;
	bool used;
};

struct suppressions {
	struct suppression *all;
	size_t count, room;
};

/* Returns true if PATTERN covers STACK. */
bool stack_matches(const char *pattern, const struct stack *stack);

/* Returns true if PATTERN covers FRAME of LOCATION. */
bool frame_matches(const char *pattern, const struct location *location, const struct frame *frame);

/* Adds the suppressions of the file PATH to SUPPRESSIONS.  Their text is ARENA's.  Returns false,
 * after a message, if the file cannot be read or understood. */
bool suppressions_read(struct suppressions *suppressions, struct arena *arena, const char *path);

/* Takes the covered memory out of the dumps of REPORT.  Call it after symbolize. */
void suppressions_apply(struct suppressions *suppressions, struct report *report);

/* Names the suppressions of leaks that covered nothing. */
void suppressions_report_unused(const struct suppressions *suppressions);

#endif
