/* options.h - the user's options.
 *
 * They are read once, at start, in this order: leakwrap_default_options(), the link's options, the
 * environment's LEAKWRAP_OPTIONS.  A program with raised privileges (AT_SECURE) ignores the
 * environment.  The options are constant after the start, but for KINDS, which leakwrap set
 * changes, and FAIL, which a child of leakwrap torture changes.  option_table.c reads them.
 */
#ifndef LEAKWRAP_OPTIONS_H
#define LEAKWRAP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/request.h"
#include "wrap/base/common.h"

enum leakwrap_unwind {
	LEAKWRAP_UNWIND_AUTO,
	LEAKWRAP_UNWIND_FP,
	LEAKWRAP_UNWIND_TABLE,
	LEAKWRAP_UNWIND_INSTRUMENT,
};

/* Which forked children write a dump when they end. */
enum leakwrap_children {
	LEAKWRAP_CHILDREN_NONE,
	LEAKWRAP_CHILDREN_OWN, /* those with live blocks allocated since their fork; only these */
	LEAKWRAP_CHILDREN_ALL,
};

enum leakwrap_on_misuse {
	LEAKWRAP_ON_MISUSE_NOTHING,
	LEAKWRAP_ON_MISUSE_REPORT,
	LEAKWRAP_ON_MISUSE_ABORT, /* reports, then aborts */
};

/* Which allocations are made to fail. */
enum leakwrap_fail_choice {
	LEAKWRAP_FAIL_NOTHING,
	LEAKWRAP_FAIL_LIST, /* none; but dumps list the call sites that were reached */
	LEAKWRAP_FAIL_NTH,  /* the NUMBERth allocation of the process */
	LEAKWRAP_FAIL_RATE, /* one in NUMBER at random, by SEED */
	LEAKWRAP_FAIL_SITE, /* the NUMBERth allocation at the call site SITE */
	LEAKWRAP_FAIL_PLAN, /* in forked children, those that the file PLAN names (plan.h) */
};

/* The longest pattern of the option fail=below=, with its NUL. */
#define LEAKWRAP_FAIL_BELOW_MAX 128

/* The longest path of the option fail=plan=, with its NUL. */
#define LEAKWRAP_FAIL_PLAN_MAX 1024

struct leakwrap_fail_rule {
	enum leakwrap_fail_choice choice;
	bool is_sticky;           /* from the first failure on, all allocations fail */
	uint64_t number;          /* see CHOICE */
	uint64_t seed;            /* of LEAKWRAP_FAIL_RATE */
	uint64_t site;            /* of LEAKWRAP_FAIL_SITE: an identity (site_identity.h) */
	size_t smallest, largest; /* in bytes; only allocations of such sizes fail */
	/* "", or a pattern with *: only allocations fail that a function or a module whose name
	 * matches has led to. */
	char below[LEAKWRAP_FAIL_BELOW_MAX];
	char plan[LEAKWRAP_FAIL_PLAN_MAX]; /* of LEAKWRAP_FAIL_PLAN */
};

/* LOG_MAX, CGROUP_MAX: bytes of the options log= and cgroup= with their NUL.  MAX_DEPTH: the most
 * frames of a backtrace.  Bare metal has no files and little memory. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_LOG_MAX    1
#define LEAKWRAP_CGROUP_MAX 1
#define LEAKWRAP_MAX_DEPTH  32
#else
#define LEAKWRAP_LOG_MAX    1024
#define LEAKWRAP_CGROUP_MAX 256
#define LEAKWRAP_MAX_DEPTH  256
#endif

struct leakwrap_options {
	char log[LEAKWRAP_LOG_MAX]; /* "stderr", or an absolute path with %p, %n, %e, %h, %% */
	int signal;                 /* 0: none */
	bool exit;
	enum leakwrap_children children;
	unsigned depth; /* 1 to LEAKWRAP_MAX_DEPTH */
	size_t top;     /* 0: all */
	size_t min_bytes;
	enum leakwrap_unwind unwind;
	size_t memory; /* 0: no bound */
	bool crash;
	bool command;
	enum leakwrap_on_misuse misuse;
	_Atomic enum leakwrap_kinds_when kinds; /* may change while the program runs */
	unsigned pointer_step; /* bytes between two places for a pointer; 0: a word */
	bool blocks;           /* dumps list all live blocks */
	bool libraries;        /* false: records only the program's own calls */
	bool record;           /* false: begins with recording off */
	size_t sample;         /* the interval of sampling in bytes; 0: all blocks are recorded */
	bool peak;             /* keeps what each call site held when most bytes were live */
	bool allocated;        /* counts what each call site has allocated so far */
	/* The option dump_at=: bytes, per cent; 0: not asked for. */
	size_t dump_at_live, dump_at_rss;
	unsigned dump_at_limit, dump_at_height;
	bool dump_at_failure;
	size_t dump_pause;                /* seconds */
	char cgroup[LEAKWRAP_CGROUP_MAX]; /* a folder, or "": the kernel says it */
	size_t log_max;                   /* bytes; 0: no bound */
	bool system; /* false: leaves out what the system's libraries allocated for themselves */
#ifndef LEAKWRAP_BARE
	struct leakwrap_fail_rule fail;
#endif
};

extern LEAKWRAP_HIDDEN struct leakwrap_options leakwrap_options;

#endif
