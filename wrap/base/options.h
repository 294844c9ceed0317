/* options.h - what the user asked for.
 *
 * Read once, at start, from leakwrap_default_options(), from what the link gave, and then from
 * the environment's LEAKWRAP_OPTIONS (unless the program runs with raised privileges,
 * AT_SECURE); constant after that.
 * */
#ifndef LEAKWRAP_OPTIONS_H
#define LEAKWRAP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum leakwrap_unwind {
	LEAKWRAP_UNWIND_AUTO,
	LEAKWRAP_UNWIND_FP,
	LEAKWRAP_UNWIND_TABLE,
	LEAKWRAP_UNWIND_INSTRUMENT,
};

/* Which forked children write a dump when they end. */
enum leakwrap_children {
	LEAKWRAP_CHILDREN_NONE,
	LEAKWRAP_CHILDREN_OWN, /* those with live blocks from after their fork: a dump of these blocks */
	LEAKWRAP_CHILDREN_ALL,
};

enum leakwrap_on_misuse {
	LEAKWRAP_ON_MISUSE_NOTHING,
	LEAKWRAP_ON_MISUSE_REPORT,
	LEAKWRAP_ON_MISUSE_ABORT, /* after the report */
};

#ifdef LEAKWRAP_BARE
#define LEAKWRAP_LOG_MAX 1 /* there is no file */
#else
#define LEAKWRAP_LOG_MAX 1024
#endif

struct leakwrap_options {
	char log[LEAKWRAP_LOG_MAX]; /* "stderr", or an absolute path with %p, %n, %e, %% */
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
	bool system; /* false: what the static C library allocated for itself is left out */
};

extern struct leakwrap_options leakwrap_options;

/* The options that the link gave (wrap/generator/generate.sh), in the notation of LEAKWRAP_OPTIONS; the
 * address of this is NULL when it gave none. */
extern const char *const leakwrap_link_options __attribute__((weak));

/* Fills leakwrap_options.  Complaints, and the table that help=1 asks for, go to standard error. */
void leakwrap_options_read(void);

#endif
