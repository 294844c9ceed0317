/* trace.h - where a walk of the stack begins, and the backtrace that it fills in. */
#ifndef LEAKWRAP_TRACE_H
#define LEAKWRAP_TRACE_H

#include <stdint.h>

#include "wrap/base/options.h" /* LEAKWRAP_MAX_DEPTH */

/* How far a backtrace can be trusted. */
enum leakwrap_trace_kind {
	LEAKWRAP_TRACE_COMPLETE,  /* reached the thread's first frame */
	LEAKWRAP_TRACE_TRUNCATED, /* ended before it */
	LEAKWRAP_TRACE_GUESSED,   /* some frame came from a guess */
};

struct leakwrap_read_set;
struct leakwrap_modules;

/* A backtrace: return addresses, innermost first. */
struct leakwrap_trace {
	uintptr_t *pcs; /* the caller's array, of MAX elements */
	unsigned max;   /* frames that fit, at least 1 and at most LEAKWRAP_MAX_DEPTH */
	unsigned depth; /* frames that are filled in */
	enum leakwrap_trace_kind kind;
	/* The return address at which a walk by rules has ended because no listed module has code
	 * there.  Walks that end otherwise leave it as it was. */
	uintptr_t end_pc;
	/* Where the walk records the stack words that it used (read_set.h), or NULL. */
	struct leakwrap_read_set *read_set;
	/* Of a backtrace read from a call site: the modules that were loaded when it was recorded.
	 * NULL: none of its modules can be unloaded. */
	const struct leakwrap_modules *modules;
};

/* The registers that a signal interrupted. */
struct leakwrap_regs {
	/* The address of the interrupted instruction, no return address.
	 * ARM: bit 0 is set in Thumb code. */
	uintptr_t pc;
	uintptr_t sp, fp;
	uintptr_t lr; /* the link register as it stands; 0 on machines without one */
	uintptr_t r7; /* ARM: the frame pointer of Thumb code */
};

#endif
