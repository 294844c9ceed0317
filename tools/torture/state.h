/* state.h - the folder of a torture: the logs of its runs, and what has been tried.
 *
 *   FOLDER/torture        a line that says what is tortured, and a line for each attempt
 *   FOLDER/baseline.log   the run without failures
 *   FOLDER/IDENTITY.HIT   the log of an attempt that has found something
 */
#ifndef TOOLS_TORTURE_STATE_H
#define TOOLS_TORTURE_STATE_H

#include "tools/torture/torture.h"

struct state {
	const char *folder; /* an absolute path */
	FILE *attempts;     /* the file FOLDER/torture, open for appending */
};

/* Opens the folder PATH, and makes it if it is missing; with NULL makes a folder in TMPDIR, which
 * is removed when the tool ends.  SUBJECT says what is tortured and how, in one line.  Ends the
 * tool with a message if the folder cannot be used, or belongs to another subject.  Strings come
 * from ARENA. */
struct state state_open(struct arena *arena, const char *path, const char *subject);

/* Returns the path of the file NAME in the folder of STATE, from ARENA. */
const char *state_path(struct arena *arena, const struct state *state, const char *name);

/* Returns the path of the log of ATTEMPT, from ARENA. */
const char *attempt_log(struct arena *arena, const struct state *state,
                        const struct attempt *attempt);

/* Marks the attempts of TORTURE that are in STATE as done.  Returns their number.  Removes a last
 * line that is cut. */
size_t state_resume(struct state *state, struct torture *torture);

/* Adds ATTEMPT, which is done.  Ends the tool with a message if the disk is full. */
void state_add(struct state *state, const struct attempt *attempt);

void state_close(struct state *state);

#endif
