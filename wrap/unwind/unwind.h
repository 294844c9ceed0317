/* unwind.h - from a caller's registers to a backtrace.
 *
 * One function per way of walking, one file per function; unwind.c chooses.  None of them faults on
 * any value of sp and fp, takes a lock, allocates, or changes errno; all may run in signal handlers.
 */
#ifndef LEAKWRAP_UNWIND_H
#define LEAKWRAP_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "wrap/unwind/stack_bounds.h"

/* The deepest backtrace that is ever kept; the option depth= lies between 1 and this. */
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
	uintptr_t *pcs; /* the caller's array */
	unsigned max;   /* frames that fit, at least 1 and at most LEAKWRAP_MAX_DEPTH */
	unsigned depth; /* how many are filled in */
	enum leakwrap_trace_kind kind;
	/* To be told where the walk found its frames (read_set.h), or NULL. */
	struct leakwrap_read_set *notes;
	/* Of one that was kept: those that were loaded then, or NULL: as ever. */
	const struct leakwrap_modules *modules;
};

/* Fills TRACE with the chain that starts at the caller (PC, SP, FP as in LEAKWRAP_CALLER), by way of
 * the option unwind=.  STACK is that of SP (leakwrap_stack_at); the walk may move its bounds. */
void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                     uintptr_t sp, uintptr_t fp);

/* The frame-pointer walk (walk_fp.c). STACK bounds what may be read. */
void leakwrap_unwind_fp(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                        uintptr_t sp, uintptr_t fp);

/* The walk by unwind rules (walk_rules.c), for code of any kind. */
void leakwrap_unwind_table(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                           uintptr_t sp, uintptr_t fp);

/* The registers that a signal interrupted: PC is the instruction itself, no return address; on ARM its bit 0 tells
 * Thumb code. */
struct leakwrap_regs {
	uintptr_t pc, sp, fp;
	uintptr_t lr; /* where a call leaves the return address in a register, as it is there, else 0 */
	uintptr_t r7; /* ARM: the frame pointer of Thumb code */
};

/* The same from there. */
void leakwrap_unwind_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                 const struct leakwrap_regs *start);

/* The shadow call stack of instrumented objects (walk_shadow.c). */
void leakwrap_unwind_shadow(struct leakwrap_trace *trace, uintptr_t pc, uintptr_t sp);

#endif
