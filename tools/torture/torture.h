/* torture.h - what a torture knows: the run without failures, the failures that were tried, and
 * what they have found.
 *
 *   baseline ──► attempts ──► engine: rerun.c, fork_pass.c ──► judge.c ──► findings
 */
#ifndef TOOLS_TORTURE_TORTURE_H
#define TOOLS_TORTURE_TORTURE_H

#include "tools/model/model.h"
#include "tools/torture/runner.h"

/* What a program did after a failure. */
enum outcome {
	OUTCOME_HANDLED,     /* ended with the same status as without failures */
	OUTCOME_ERROR_EXIT,  /* ended with another status */
	OUTCOME_CRASH,       /* died of a fault */
	OUTCOME_ABORT,       /* died of SIGABRT */
	OUTCOME_KILLED,      /* died of another signal */
	OUTCOME_HANG,        /* did not end in time */
	OUTCOME_NOT_REACHED, /* did not come to the call site */
	OUTCOMES,
};

/* "handled", "error_exit", ... and the same for people. */
extern const char *const outcome_names[OUTCOMES];
extern const char *const outcome_words[OUTCOMES];

/* A failure that is tried: of allocation HIT at a call site. */
struct attempt {
	const struct failure *site; /* of the baseline */
	uint64_t hit;
	bool done, timed_out, forked;
	bool missed; /* the run ended and did not come to the call site */
	int status;  /* as of waitpid(2) */
	uint64_t ns; /* how long the program ran */
	pid_t pid;   /* of the run that DUMP comes from, or 0 */
	enum outcome outcome;
	const struct dump *dump; /* the last dump of the run, or NULL */
};

enum finding_kind {
	FINDING_CRASH,
	FINDING_ABORT,
	FINDING_KILLED,
	FINDING_HANG,
	FINDING_LEAK,
	FINDING_MISUSE,
	FINDING_KINDS,
};

/* "crash", "abort", ... */
extern const char *const finding_names[FINDING_KINDS];

/* Something that a program did wrong after failures. */
struct finding {
	enum finding_kind kind;
	const struct stack *stack; /* where it crashed, or allocated what it lost; or NULL */
	const struct dump *dump;   /* that shows it, or NULL */
	uint64_t bytes, blocks;    /* of a leak: the most that an attempt has lost */
	bool suppressed;           /* the user knows of it */
	struct attempt **attempts; /* that lead to it; the caller's to free */
	size_t attempt_count, room;
};

/* Blocks that the baseline leaves behind at the call site of a stack, as far as they count as
 * leaks. */
struct left_before {
	uint64_t lost, live;
};

struct torture {
	struct report report;
	char *const *argv;
	const struct dump *baseline;
	struct left_before *before; /* by the number of a stack; judge fills it */
	size_t before_count, before_room;
	int baseline_status;
	uint64_t baseline_ns;
	struct attempt *attempts;
	size_t attempt_count, attempt_room;
	struct finding *findings;
	size_t finding_count, finding_room;
	size_t resumed;            /* attempts that an earlier torture has made */
	size_t left_out;           /* call sites that the options leave out */
	uint64_t ns;               /* the time that all attempts took */
	size_t not_forked;         /* attempts that were left out: the program could not fork */
	const char *why_not_forks; /* the most frequent reason why it could not, or NULL */
	bool judges_error_exits;   /* live blocks after another exit status are findings, too */
};

/* Sets the outcome of ATTEMPT, which is done, from its status and the dumps of its log: those of
 * REPORT from number FIRST_DUMP and from misuse FIRST_MISUSE on.  Adds its findings.  Returns
 * whether there are any. */
bool judge(struct torture *torture, struct attempt *attempt, size_t first_dump,
           size_t first_misuse);

#endif
