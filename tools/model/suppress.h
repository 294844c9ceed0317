/* suppress.h - call sites that the user knows of, in LeakSanitizer's format.
 *
 * A line "leak:PATTERN" covers the call sites with a frame whose function, source file or module
 * contains PATTERN; * stands for anything, ^ at the start and $ at the end anchor it.  Lines starting
 * with # are comments.
 */
#ifndef TOOLS_SUPPRESS_H
#define TOOLS_SUPPRESS_H

#include "tools/model/model.h"

struct suppression {
	const char *pattern;
	const char *file; /* that it stands in */
	unsigned long line;
	bool used;
};

struct suppressions {
	struct suppression *all;
	size_t count, room;
};

/* Returns true if PATTERN covers FRAME of LOCATION. */
bool frame_matches(const char *pattern, const struct location *location, const struct frame *frame);

/* Adds the suppressions in PATH; false, after a message, when it cannot be read or understood. */
bool suppressions_read(struct suppressions *suppressions, struct arena *arena, const char *path);

/* Takes the covered call sites out of the dumps; after symbolize. */
void suppressions_apply(struct suppressions *suppressions, struct report *report);

/* Names the suppressions that covered nothing. */
void suppressions_tell_unused(const struct suppressions *suppressions);

#endif
