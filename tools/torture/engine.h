/* engine.h - how attempts are made: by runs of the program, one for each attempt (rerun.c), or by
 * forks in a single run (fork_pass.c). */
#ifndef TOOLS_TORTURE_ENGINE_H
#define TOOLS_TORTURE_ENGINE_H

#include "tools/base/memory.h"
#include "tools/torture/state.h"

/* What the engines work on. */
struct engine {
	struct torture *torture;
	struct state *state;
	struct runner *runner;
	struct arena arena;
	unsigned jobs;     /* processes at a time */
	bool sticky;       /* all later allocations fail, too */
	const char *words; /* more words of the option fail=, each behind a comma */
};

/* Runs the program without failures, and fills the baseline of the torture.  Ends the tool with a
 * message if the program is not traced, or does not end by itself. */
void run_baseline(struct engine *engine);

/* Make the attempts that are not done.  The fork pass leaves out attempts at which the program
 * could not fork, or did not come to.  Return false if the user has interrupted the tool. */
bool rerun(struct engine *engine);
bool fork_pass(struct engine *engine);

/* For the engines: */

/* Returns the value of LEAKWRAP_OPTIONS for a run whose dumps go to LOG, with fail=RULE. */
const char *run_options(struct engine *engine, const char *log, const char *rule);

/* Returns the number of attempts that are done. */
size_t count_done(const struct torture *torture);

/* Takes the result ENDED of ATTEMPT, whose dumps are in LOG: judges it, adds it to the state, and
 * removes the log if it shows nothing. */
void finish_attempt(struct engine *engine, struct attempt *attempt, const struct ended *ended,
                    const char *log);

#endif
