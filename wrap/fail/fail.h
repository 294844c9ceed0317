/* fail.h - which allocations are made to fail: the option fail= and leakwrap_fail_next.
 *
 *   record/attempt.c ── call site, size ──► leakwrap_fail_decide ──► does it fail?
 *                                                │ at first sight
 *                                                └──► identity.c, the pattern below=
 *
 * Nothing here needs memory when an allocation fails: the table of call sites is mapped at the
 * start, and its pages are touched when a call site is first reached.  All functions but
 * leakwrap_fail_start may run in signal handlers; none takes a lock.
 */
#ifndef LEAKWRAP_FAIL_H
#define LEAKWRAP_FAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/options.h"
#include "wrap/base/thread.h"

#ifndef LEAKWRAP_BARE

/* Whether the option fail= chooses anything.  Constant after the start. */
extern LEAKWRAP_HIDDEN bool leakwrap_fail_is_on;

/* Returns whether an allocation of the calling thread may have to fail. */
static inline bool leakwrap_fail_may_come(void)
{
	return leakwrap_fail_is_on || leakwrap_self.fail_next > 0;
}

/* Parses the LENGTH bytes at TEXT, a value of the option fail= as leakwrap-options(7) describes it,
 * into *RULE.  Returns false if it is no such value; *RULE may be changed then. */
bool leakwrap_fail_parse(const char *text, size_t length, struct leakwrap_fail_rule *rule);

/* What the runtime gives to this folder. */
struct leakwrap_fail_hooks {
	/* Returns the name of the function that INSTRUCTION is in, or NULL.  Signal-safe. */
	const char *(*name_of)(uintptr_t instruction);
	/* Forks, and prepares the tracer in the child (plan.h). */
	long (*fork)(void);
};

/* Starts failing as the option fail= says, once, at the start of the runtime.  HOOKS stays valid.
 * Returns false if there is no memory for the table of call sites, or no plan. */
bool leakwrap_fail_start(const struct leakwrap_fail_hooks *hooks);

/* Counts an allocation of SIZE bytes at the call site SITE, which is not LEAKWRAP_SITE_IGNORED.
 * Returns whether it must fail, and notes the failure then. */
bool leakwrap_fail_decide(uint32_t site, size_t size);

/* Notes that an allocation of SIZE bytes at SITE fails. */
void leakwrap_fail_note(uint32_t site, size_t size);

/* In a forked child: forgets the failures of the parent.  Call sites are counted on. */
void leakwrap_fail_reset_in_child(void);

/* -- for a dump -------------------------------------------------------------------------------- */

/* The first failures are kept, up to this number. */
#define LEAKWRAP_FAILURES_KEPT 8

struct leakwrap_failure {
	uint32_t site; /* LEAKWRAP_SITE_LOST: its backtrace is not known */
	uint32_t hit;  /* which allocation at SITE it was, from 1; 0: not counted */
	size_t size;   /* bytes that were asked for; 0: not known */
};

/* Returns the number of allocations that were made to fail, since the start or the fork. */
uint64_t leakwrap_failures_count(void);

/* Copies failure INDEX, from 0, to *FAILURE.  Returns false if it is not kept. */
bool leakwrap_failure_read(unsigned index, struct leakwrap_failure *failure);

/* What is known of a call site that was reached while fail= is on. */
struct leakwrap_reached {
	uint64_t identity; /* site_identity.h */
	uint32_t hits;     /* allocations, successful or not; modulo 2^32 */
	size_t largest;    /* bytes of the largest allocation */
};

/* Copies what is known of the call site SITE to *REACHED.  Returns false if it was not reached. */
bool leakwrap_fail_reached(uint32_t site, struct leakwrap_reached *reached);

#else

static inline bool leakwrap_fail_may_come(void)
{
	return false;
}

#endif

#endif
