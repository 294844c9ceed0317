/* misuse.h - finds blocks that the program frees wrongly, for the option misuse=.
 *
 * Only the slow paths in record/ call it; with misuse=off none of it runs.  With another value
 * every thread takes the slow paths, since each allocation and release has to be checked.  All
 * functions but leakwrap_misuse_start may run in signal handlers; none takes a lock or allocates.
 *
 * A release is reported only if it is certainly wrong.  The certainty depends on what the tracer
 * sees:
 *
 *   always      A pointer into the thread's own stack is no block.  That holds above the stack
 *               pointer and below it, where a function that frees last has taken its frame down.
 *               The stack lies between the limits of its mapping.  If the limits are unknown, only
 *               the frames from the free up to the thread's start count as stack.  Other stacks,
 *               of coroutines and signal handlers, may be allocated blocks: nothing is certain
 *               there.
 *               A pointer into memory of the program or of a shared library that is not writable
 *               is no block: code, constants, string literals.
 *   the allocator is glibc's
 *               A pointer into the writable memory of a module is no block either.  Other
 *               allocators may have an arena there: musl adds the rest of the variables' pages to
 *               its heap.  For operator delete, the operators must be the C++ library's as well.
 *   the allocator is the C library's
 *               A pointer inside a recorded block that is not aligned for a word is no block: no
 *               allocator aligns less.
 *   every allocation and every release is seen
 *               A record is never stale.  An address that was released and not allocated since is
 *               free.  A pointer inside a live block is not another block.  A live block was
 *               allocated by the function that its record names.
 *
 * Every allocation and release is seen if the program is static or its libraries' calls are
 * recorded, its allocator is the C library's and all wraps are in place (linker-flags.mk says so).
 * No module may have been loaded after the start of a static program.  No module of a dynamic
 * program may bypass the tracer (bypass.h).  In addition no block has come back unseen so far, and
 * no unknown block has been freed.
 *
 * A shared library's call of malloc or free may stand for an operator new or delete.  Its family is
 * not known, so such a call never mismatches.
 *
 * Operators new and delete that the program defines may be called past the wrap, and may call
 * malloc and free.  Then misuse between malloc, new and new[] is not reported. */
#ifndef LEAKWRAP_MISUSE_H
#define LEAKWRAP_MISUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"

/* The family of a function that allocates or releases a block. */
enum leakwrap_family {
	LEAKWRAP_FAMILY_MALLOC, /* the C library's functions */
	LEAKWRAP_FAMILY_NEW,
	LEAKWRAP_FAMILY_ARRAY,     /* new[] */
	LEAKWRAP_FAMILY_ALLOCATOR, /* an allocator that the user named (wrapper.h) */
	LEAKWRAP_FAMILY_POOL,      /* leakwrap_record(), leakwrap_forget(): never judged */
	/* A shared library called malloc or free: itself, or by its operators new and delete. */
	LEAKWRAP_FAMILY_LIBRARY,
};

enum leakwrap_misuse_what {
	LEAKWRAP_MISUSE_FREED,    /* the block had been released before */
	LEAKWRAP_MISUSE_INTERIOR, /* the pointer is inside a block */
	LEAKWRAP_MISUSE_STACK,    /* the pointer is on the thread's own stack */
	LEAKWRAP_MISUSE_STATIC,   /* the pointer is in a module's memory */
	LEAKWRAP_MISUSE_MISMATCH, /* the block was allocated by functions of another family */
};

/* A misuse to report.  Call sites are numbers as in site_table.h; 0 if there is none. */
struct leakwrap_misuse {
	enum leakwrap_misuse_what what;
	bool resizes;                /* the offending function resizes, like realloc */
	uintptr_t pointer;           /* the argument of the offending function */
	enum leakwrap_family by;     /* the family of the offending function */
	uint32_t offender;           /* the call site that called it */
	uintptr_t block;             /* the block concerned, or 0 */
	size_t size;                 /* the block's size */
	enum leakwrap_family family; /* the block's family, if WHAT is LEAKWRAP_MISUSE_MISMATCH */
	uint32_t allocated;          /* the call site that allocated the block */
	uint32_t released;           /* the call site that released it, for LEAKWRAP_MISUSE_FREED */
};

/* A release of BLOCK, or a resize. */
struct leakwrap_release {
	uintptr_t block;
	enum leakwrap_family family;
	bool resizes;
	uint32_t offender; /* the call site */
	struct leakwrap_caller caller;
};

/* Whether misuse is checked.  Constant after the start. */
extern bool leakwrap_misuse_checked;

/* Starts the checks, once, at the start of the runtime, if misuse= asks for them.  Each misuse is
 * passed to REPORT, which must be signal-safe; with misuse=abort abort() follows.  Returns false if
 * there is no memory for the tables. */
bool leakwrap_misuse_start(void (*report)(const struct leakwrap_misuse *misuse));

/* Notes that BLOCK was allocated at call site SITE by a function of FAMILY. */
void leakwrap_misuse_note_allocation(const void *block, uint32_t site, enum leakwrap_family family);

/* Checks RELEASE of a block that was recorded with SIZE and SITE, before the real call, and notes
 * the block as freed. */
void leakwrap_misuse_check_release(const struct leakwrap_release *release, size_t size,
                                   uint32_t site);

/* Checks RELEASE of a pointer that has no record, before the real call.  Returns true if it was
 * reported.  Otherwise returns false and counts the block as allocated unseen: from then on fewer
 * releases are certain misuse.  A pool's block is never checked. */
bool leakwrap_misuse_check_unknown(const struct leakwrap_release *release);

/* Notes that a resize has failed: BLOCK is live as before. */
void leakwrap_misuse_cancel_release(const void *block);

/* Notes that a named allocator hands out malloc's own blocks: the program may mix both families. */
void leakwrap_misuse_note_malloc_blocks(void);

/* Notes that a block was allocated or released unseen: fewer releases are certain misuse then. */
void leakwrap_misuse_note_unseen(void);

#endif
