/* record.h - the verbs by which an entry point tells the tracer what happened.
 *
 * The files of entry/ define the functions that the linker puts in the place of the program's
 * calls: __wrap_NAME is called instead of NAME and reaches the original as __real_NAME (ld(1),
 * --wrap).  Each wrapper is compiled into an archive member of its own, so that a program drags in
 * only the wrappers whose originals it links.  A wrapper calls the verbs below and returns the
 * original's result; it holds no logic of its own.
 *
 * No verb fails, allocates with malloc, holds a lock on return or changes errno, unless its comment
 * says so.  With misuse=abort a verb that begins a release or a resize may not return.  All may be
 * called from any thread and from signal handlers.  The tracer never owns the blocks it is given.
 *
 * Wrapped calls nest: in a static program strdup and libstdc++'s operator new reach __wrap_malloc.
 * The tables are keyed by address, so the outer call takes over the block that the inner call
 * recorded.  There is no nesting counter that a longjmp, an exception or a cancelled thread could
 * leave behind.
 *
 * A verb that records takes the wrapper's CALLER, which LEAKWRAP_CALLER yields there.  Calling
 * conventions pass a structure of that size in memory; to build it, even the fast path of malloc
 * would need a frame.  Therefore these verbs are inline functions.  Each calls an out-of-line
 * function NAME_from, to which it passes the caller's registers one by one.
 */
#ifndef LEAKWRAP_RECORD_H
#define LEAKWRAP_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/thread.h"
#include "wrap/live/samples.h"
#include "wrap/record/caller.h"
#include "wrap/record/thread_state.h"

/* Exports a function.  Stands on the definition of every __wrap_ function. */
#define LEAKWRAP_ENTRY __attribute__((visibility("default")))

/* Stands in each file that defines wrappers.  Refers to a public function (public_api.c), so that
 * linkers take that member out of the archive.  A program's weak references to its functions would
 * not do that.  No instruction, no data. */
#define LEAKWRAP_REFER_TO_PUBLIC_API __asm__(".globl leakwrap_disable")

/* -- allocate ---------------------------------------------------------------------------------- */

/* Begins an allocation of this thread, before the real call. */
static inline void leakwrap_begin_allocation(void)
{
	leakwrap_thread_begin_allocation(&leakwrap_self);
}

#ifndef LEAKWRAP_BARE
bool leakwrap_begin_attempt_from(struct leakwrap_attempt *attempt, size_t size,
                                 LEAKWRAP_CALLER_PARAMS);

/* Decides whether the allocation of SIZE bytes by CALLER must fail, before the real call.  Called
 * only if the thread does not simply record.  SIZE is 0 if it is not known.  *ATTEMPT must lie in
 * the wrapper's frame.  Nothing fails in a thread that samples.
 *
 * Returns true if the allocation must fail: sets errno to ENOMEM, and leakwrap_end_attempt need not
 * follow.  Otherwise leakwrap_end_attempt must follow the real call.  Wrapped functions that the
 * real call reaches do not fail meanwhile: they are parts of the same allocation. */
LEAKWRAP_INLINE bool leakwrap_begin_attempt(struct leakwrap_attempt *attempt, size_t size,
                                            struct leakwrap_caller caller)
{
	if (leakwrap_self.state >= LEAKWRAP_THREAD_SAMPLING) {
		*attempt = (struct leakwrap_attempt){.guard = 0};
		return false;
	}
	return leakwrap_begin_attempt_from(attempt, size, LEAKWRAP_CALLER_ARGS(caller));
}

/* Ends ATTEMPT, after the real call.  Does nothing if its guard is 0: it was never begun. */
static inline void leakwrap_end_attempt(struct leakwrap_attempt *attempt)
{
	if (leakwrap_unlikely(attempt->guard != 0)) {
		attempt->guard = 0;
		leakwrap_self.attempt = attempt->outer;
	}
}

/* Reports that an allocation of SIZE bytes has failed, after the real call, if ERROR is ENOMEM.
 * For functions that may fail for other reasons.  SIZE is 0 if it is not known. */
void leakwrap_record_failure(size_t size, int error);
#else
static inline bool leakwrap_begin_attempt(struct leakwrap_attempt *attempt, size_t size,
                                          struct leakwrap_caller caller)
{
	(void)attempt, (void)size, (void)caller;
	return false;
}

static inline void leakwrap_end_attempt(struct leakwrap_attempt *attempt)
{
	(void)attempt;
}

static inline void leakwrap_record_failure(size_t size, int error)
{
	(void)size, (void)error;
}
#endif

void *leakwrap_record_allocation_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS);
void *leakwrap_record_inner_size_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS);
void *leakwrap_record_in_pool_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS);
void *leakwrap_record_malloc_from(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS);
void *leakwrap_record_new_from(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS);
void *leakwrap_record_array_from(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS);

/* Records BLOCK of SIZE bytes as live, after the real call.  With BLOCK NULL records nothing, and
 * reports a failed allocation unless SIZE is 0: some allocators return NULL for 0 bytes by design.
 * Returns BLOCK. */
LEAKWRAP_INLINE void *leakwrap_record_allocation(void *block, size_t size,
                                                 struct leakwrap_caller caller)
{
	return leakwrap_record_allocation_from(block, size, LEAKWRAP_CALLER_ARGS(caller));
}

/* Records BLOCK of a function that does not say how much it allocated.  If an inner call recorded
 * BLOCK, the inner call's size is kept; otherwise SIZE is used.  Returns BLOCK. */
LEAKWRAP_INLINE void *leakwrap_record_inner_size(void *block, size_t size,
                                                 struct leakwrap_caller caller)
{
	return leakwrap_record_inner_size_from(block, size, LEAKWRAP_CALLER_ARGS(caller));
}

/* Records BLOCK like leakwrap_record_allocation, for the public function leakwrap_record(). */
LEAKWRAP_INLINE void *leakwrap_record_in_pool(void *block, size_t size,
                                              struct leakwrap_caller caller)
{
	return leakwrap_record_in_pool_from(block, size, LEAKWRAP_CALLER_ARGS(caller));
}

/* Record BLOCK like leakwrap_record_allocation: for the malloc family, operator new and operator
 * new[].  The option misuse= distinguishes the three.  SITE is the caller's call site if it is
 * known (fast_path.h), else LEAKWRAP_SITE_NONE. */
LEAKWRAP_INLINE void *leakwrap_record_malloc(uint32_t site, void *block, size_t size,
                                             struct leakwrap_caller caller)
{
	return leakwrap_record_malloc_from(site, block, size, LEAKWRAP_CALLER_ARGS(caller));
}

LEAKWRAP_INLINE void *leakwrap_record_new(uint32_t site, void *block, size_t size,
                                          struct leakwrap_caller caller)
{
	return leakwrap_record_new_from(site, block, size, LEAKWRAP_CALLER_ARGS(caller));
}

LEAKWRAP_INLINE void *leakwrap_record_array(uint32_t site, void *block, size_t size,
                                            struct leakwrap_caller caller)
{
	return leakwrap_record_array_from(site, block, size, LEAKWRAP_CALLER_ARGS(caller));
}

/* -- calls of shared libraries (export.h) ----------------------------------------------------- */

/* Begins a release like leakwrap_begin_release, for a call that a shared library makes. */
struct leakwrap_enclosing_release leakwrap_begin_library_release(void *block, uintptr_t sp);

/* -- allocators that the user named (wrapper.h) ------------------------------------------------ */

void *leakwrap_record_in_allocator_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS);

/* Records BLOCK of SIZE bytes as live, after leakwrap_inside_end.  With BLOCK NULL records nothing.
 * Returns BLOCK. */
LEAKWRAP_INLINE void *leakwrap_record_in_allocator(void *block, size_t size,
                                                   struct leakwrap_caller caller)
{
	return leakwrap_record_in_allocator_from(block, size, LEAKWRAP_CALLER_ARGS(caller));
}

/* -- release ----------------------------------------------------------------------------------- */

/* The state of an enclosing release, which leakwrap_end_release restores. */
struct leakwrap_enclosing_release {
	void *block;          /* the block that an enclosing call releases or resizes, or NULL */
	uintptr_t release_sp; /* all calls of that release have their stack below this address */
};

/* Begins the release of BLOCK, before the real call: removes its record.  With BLOCK NULL removes
 * nothing.  SP is the caller's stack pointer, or 0.  With SP 0 the tracer cannot detect an
 * enclosing release that siglongjmp has left.  Returns the state for leakwrap_end_release. */
struct leakwrap_enclosing_release leakwrap_begin_release(void *block, uintptr_t sp);

/* Begins a release like leakwrap_begin_release, for an allocator that the user named. */
struct leakwrap_enclosing_release leakwrap_begin_release_in_allocator(void *block, uintptr_t sp);

/* Begin a release like leakwrap_begin_release: for operator delete, for operator delete[], and for
 * the public function leakwrap_forget(). */
struct leakwrap_enclosing_release leakwrap_begin_release_new(void *block, uintptr_t sp);
struct leakwrap_enclosing_release leakwrap_begin_release_array(void *block, uintptr_t sp);
struct leakwrap_enclosing_release leakwrap_begin_release_in_pool(void *block, uintptr_t sp);

/* Begins a call of the allocator that may cut a block out of a larger block, and free the remainder
 * by a wrapped function: such a release is not the program's.  SP, and the result: see
 * leakwrap_begin_release.  leakwrap_end_release must follow the call. */
struct leakwrap_enclosing_release leakwrap_begin_split(uintptr_t sp);

/* Ends a release, after the real call: restores the state of the ENCLOSING release.
 *
 * A signal handler may run between the two stores.  The fence keeps their order, so that it never
 * sees a block in "releasing" with the "release_sp" of another release.  Every function that stores
 * both has such a fence. */
static inline void leakwrap_end_release(struct leakwrap_enclosing_release enclosing)
{
	leakwrap_self.releasing = enclosing.block;
	atomic_signal_fence(memory_order_seq_cst);
	leakwrap_self.release_sp = enclosing.release_sp;
}

/* -- resize ------------------------------------------------------------------------------------ */

/* The state of a resize across the real call; filled by leakwrap_begin_resize. */
struct leakwrap_resize {
	void *block; /* the old block, or NULL */
	struct leakwrap_enclosing_release enclosing;
	size_t old_size; /* its recorded size; valid unless SITE is LEAKWRAP_SITE_NONE */
	uint32_t site;   /* recorded call site; LEAKWRAP_SITE_NONE: the old block had no record */
	uint32_t hold;   /* by which the live table holds the old block, or 0 */
	struct leakwrap_sample sample; /* its sample, taken; valid if SITE is LEAKWRAP_SITE_NONE */
	int saved_errno;               /* the caller's errno */
	unsigned family; /* enum leakwrap_family (misuse.h) of the function that resizes */
};

/* Begins a resize of BLOCK (may be NULL) to SIZE bytes, before the real call: holds BLOCK, so that
 * only dumps find its record, and fills *RESIZE.  SP as for leakwrap_begin_release.  With SIZE 0
 * sets errno to 0, so that leakwrap_end_resize can distinguish "freed" from "failed". */
void leakwrap_begin_resize(struct leakwrap_resize *resize, void *block, size_t size, uintptr_t sp);

/* Begins a resize like leakwrap_begin_resize, for an allocator that the user named. */
void leakwrap_begin_resize_in_allocator(struct leakwrap_resize *resize, void *block, size_t size,
                                        uintptr_t sp);

void *leakwrap_end_resize_from(struct leakwrap_resize *resize, void *block, size_t size,
                               LEAKWRAP_CALLER_PARAMS);
void *leakwrap_end_fast_resize_from(uint32_t old_value, void *old_block, void *block, size_t size,
                                    LEAKWRAP_CALLER_PARAMS);

/* Ends a resize, after the real call returned BLOCK: records BLOCK with SIZE bytes, then removes
 * the old record.  With BLOCK NULL restores the old record, unless SIZE is 0 and errno shows no
 * failure.  Leaves errno as the real call alone would have left it.  Returns BLOCK. */
LEAKWRAP_INLINE void *leakwrap_end_resize(struct leakwrap_resize *resize, void *block, size_t size,
                                          struct leakwrap_caller caller)
{
	return leakwrap_end_resize_from(resize, block, size, LEAKWRAP_CALLER_ARGS(caller));
}

/* Ends a resize like leakwrap_end_resize, where leakwrap_fast_take (fast_path.h) returned OLD_VALUE
 * for OLD_BLOCK. */
LEAKWRAP_INLINE void *leakwrap_end_fast_resize(uint32_t old_value, void *old_block, void *block,
                                               size_t size, struct leakwrap_caller caller)
{
	return leakwrap_end_fast_resize_from(old_value, old_block, block, size,
	                                     LEAKWRAP_CALLER_ARGS(caller));
}

/* -- replace ----------------------------------------------------------------------------------- */

/* The state of a function that may replace the caller's buffer by a larger buffer.  getline and its
 * relatives may wait for hours; the live table holds the old buffer meanwhile. */
struct leakwrap_replacement {
	void *block;     /* the buffer before the call, or NULL */
	size_t capacity; /* the buffer's size in bytes, according to the caller */
	size_t size;     /* its recorded size; valid unless SITE is LEAKWRAP_SITE_NONE */
	uint32_t site;   /* its recorded call site, or LEAKWRAP_SITE_NONE */
	uint32_t hold;   /* by which the live table holds it, or 0 */
	struct leakwrap_found_sample sample; /* its sample; valid if SITE is LEAKWRAP_SITE_NONE */
};

/* Begins a call that may replace BLOCK (may be NULL) of CAPACITY bytes, before the real call.  SP
 * as for leakwrap_begin_release.  Returns the state for leakwrap_end_replacement, which must
 * follow. */
struct leakwrap_replacement leakwrap_begin_replacement(void *block, size_t capacity, uintptr_t sp);

void leakwrap_end_replacement_from(struct leakwrap_replacement old, void *block, size_t size,
                                   LEAKWRAP_CALLER_PARAMS);

/* Ends the call that OLD describes, after the real call: the buffer is now BLOCK of SIZE bytes.
 * Keeps the record if neither the buffer nor its capacity has changed. */
LEAKWRAP_INLINE void leakwrap_end_replacement(struct leakwrap_replacement old, void *block,
                                              size_t size, struct leakwrap_caller caller)
{
	leakwrap_end_replacement_from(old, block, size, LEAKWRAP_CALLER_ARGS(caller));
}

/* -- hand over --------------------------------------------------------------------------------- */

/* Begins a call that hands BLOCK (may be NULL) over to the program: BLOCK was allocated by earlier
 * calls.  Where the wrapper sees these, BLOCK has a record, and leakwrap_record_inner_size takes it
 * over. */
void leakwrap_begin_handing_over(void *block);

#endif
