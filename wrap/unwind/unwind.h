/* unwind.h - from a caller's registers to a backtrace.
 *
 * Each function walks the stack in one way and has its own file; unwind.c chooses.  None of them
 * faults on any value of sp and fp, takes a lock, allocates, or changes errno.  All may run in
 * signal handlers.
 */
#ifndef LEAKWRAP_UNWIND_H
#define LEAKWRAP_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/unwind/stack_bounds.h"

/* The most frames of a backtrace.  The option depth= lies between 1 and this limit. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_MAX_DEPTH 32
#else
#define LEAKWRAP_MAX_DEPTH 256
#endif

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
	/* Where the walk records the stack words that it used (read_set.h), or NULL. */
	struct leakwrap_read_set *notes;
	/* Of a backtrace read from a call site: the modules that were loaded when it was recorded.
	 * NULL: none of its modules can be unloaded. */
	const struct leakwrap_modules *modules;
};

/* Fills TRACE with the frames from the caller outward, in the way that the option unwind= chooses.
 * STACK: the stack that the CALLER's sp lies on (leakwrap_stack_at); the walk may move its bounds.
 */
void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                     const struct leakwrap_caller *caller);

/* Fills TRACE by frame pointers (walk_fp.c).  Parameters: as of leakwrap_unwind. */
void leakwrap_unwind_fp(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                        const struct leakwrap_caller *caller);

/* Fills TRACE by unwind rules (walk_rules.c), for code of any kind.  Parameters: as of
 * leakwrap_unwind. */
void leakwrap_unwind_table(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                           const struct leakwrap_caller *caller);

/* The registers that a signal interrupted. */
struct leakwrap_regs {
	/* The address of the interrupted instruction, no return address.
	 * ARM: bit 0 is set in Thumb code. */
	uintptr_t pc;
	uintptr_t sp, fp;
	uintptr_t lr; /* the link register as it stands; 0 on machines without one */
	uintptr_t r7; /* ARM: the frame pointer of Thumb code */
};

/* Fills TRACE by unwind rules, beginning at the interrupted registers START.  STACK: the stack that
 * START->sp lies on; the walk may move its bounds. */
void leakwrap_unwind_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                 const struct leakwrap_regs *start);

/* Fills TRACE from the shadow call stack of instrumented objects (walk_shadow.c).  PC, SP: the
 * caller's. */
void leakwrap_unwind_shadow(struct leakwrap_trace *trace, uintptr_t pc, uintptr_t sp);

#endif
