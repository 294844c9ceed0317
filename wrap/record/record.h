/* record.h - what an entry point may say to the tracer.
 *
 * The files of entry/ define the functions that the linker puts in the place of the program's calls:
 * __wrap_NAME is called instead of NAME and reaches the original as __real_NAME (ld(1), --wrap).
 * Each is compiled into an archive member of its own, so that a program drags in only the wrappers
 * whose originals it links.  A wrapper tells one of the verbs below what happened and returns what the
 * original returned; it holds no logic of its own.
 *
 * None of the verbs fails, allocates with malloc, or changes errno, unless said otherwise (with misuse=abort
 * one that releases may not return).  All may be
 * called from any thread and from signal handlers.
 *
 * Wrapped calls nest: in a static program strdup reaches __wrap_malloc, and libstdc++'s operator new
 * does too.  The tables are keyed by address, so the outer call simply takes over the block that the
 * inner call recorded; there is no nesting counter that a longjmp, an exception or a cancelled thread
 * could leave behind.
 */
#ifndef LEAKWRAP_RECORD_H
#define LEAKWRAP_RECORD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/thread.h"

/* On the definition of every __wrap_ function. */
#define LEAKWRAP_ENTRY __attribute__((visibility("default")))

/* The caller of the entry point: return address, stack pointer after the return, frame pointer after
 * the return.  Every verb that records takes these three; LEAKWRAP_CALLER yields them, and is used
 * directly in the __wrap_ function, never in a helper that it calls. */
#define LEAKWRAP_CALLER_PARAMS uintptr_t pc, uintptr_t sp, uintptr_t fp

/* -- allocate ------------------------------------------------------------------------------------ */

/* Before the real call. */
static inline void leakwrap_begin_allocation(void)
{
	leakwrap_self.inner = NULL;
}

/* After the real call: BLOCK (NULL: nothing happened) of SIZE bytes is live.  Returns BLOCK. */
void *leakwrap_record_allocation(void *block, size_t size, LEAKWRAP_CALLER_PARAMS);

/* The same for leakwrap_record(). */
void *leakwrap_record_in_pool(void *block, size_t size, LEAKWRAP_CALLER_PARAMS);

/* The same for malloc and its kind, for operator new, and for new[], which misuse= tells apart; SITE is the caller's call
 * site when it is known already (fast_path.h), else 0. */
void *leakwrap_record_malloc(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS);
void *leakwrap_record_new(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS);
void *leakwrap_record_array(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS);

/* The same for a function that does not say how much it allocated: when an inner call recorded BLOCK,
 * its size stands, otherwise SIZE does.  Returns BLOCK. */
void *leakwrap_record_inner_size(void *block, size_t size, LEAKWRAP_CALLER_PARAMS);

/* -- allocators that the user named (wrapper.h) -------------------------------------------------- */

/* Before the real call: begins the call that INSIDE stands for.  Until it ends, what this thread
 * allocates by other wrapped functions is the allocator's own memory, and is not shown. */
void leakwrap_inside_begin(struct leakwrap_inside *inside);

/* After the real call, or when an exception or a cancellation leaves it. */
void leakwrap_inside_end(struct leakwrap_inside *inside);

/* After that: BLOCK (NULL: nothing happened) of SIZE bytes is live.  Returns BLOCK. */
void *leakwrap_allocated_inside(void *block, size_t size, LEAKWRAP_CALLER_PARAMS);

/* -- release ------------------------------------------------------------------------------------- */

/* What a release must put back when it ends. */
struct leakwrap_enclosing_release {
	void *block;  /* what an outer call is releasing or resizing */
	uintptr_t at; /* where on the stack */
};

/* Before the real call: BLOCK (NULL: nothing happens) is about to be freed.  SP is the caller's stack pointer (LEAKWRAP_CALLER),
 * or 0: then it cannot be told when the release was left by siglongjmp. */
struct leakwrap_enclosing_release leakwrap_begin_release(void *block, uintptr_t sp);

/* The same for an allocator that the user named. */
struct leakwrap_enclosing_release leakwrap_releasing_inside(void *block, uintptr_t sp);

/* The same for operator delete, for delete[], and for leakwrap_forget(). */
struct leakwrap_enclosing_release leakwrap_begin_release_new(void *block, uintptr_t sp);
struct leakwrap_enclosing_release leakwrap_begin_release_array(void *block, uintptr_t sp);
struct leakwrap_enclosing_release leakwrap_begin_release_in_pool(void *block, uintptr_t sp);

/* After the real call.  A signal handler that comes between must not find a release without its place, here and wherever
 * the two are stored to. */
static inline void leakwrap_end_release(struct leakwrap_enclosing_release outer)
{
	leakwrap_self.releasing = outer.block;
	atomic_signal_fence(memory_order_seq_cst);
	leakwrap_self.releasing_at = outer.at;
}

/* The caller's stack pointer alone: leakwrap_caller_sp(LEAKWRAP_CALLER). */
static inline uintptr_t leakwrap_caller_sp(LEAKWRAP_CALLER_PARAMS)
{
	(void)pc, (void)fp;
	return sp;
}

/* -- resize -------------------------------------------------------------------------------------- */

/* What a resize must remember across the real call; filled by leakwrap_begin_resize. */
struct leakwrap_resize {
	void *block; /* the old block */
	struct leakwrap_enclosing_release outer;
	size_t old_size; /* of the block, when SITE is not 0 */
	uint32_t site;   /* its call site, 0 when it was not recorded */
	int saved_errno; /* errno of the caller */
	unsigned kind;   /* of the function that resizes: enum leakwrap_kind (misuse.h) */
};

/* Before the real call that gives BLOCK (may be NULL) SIZE bytes; SP as above.  With SIZE 0 errno is set to 0, so
 * that leakwrap_end_resize can tell "freed" from "failed" in what the allocator answers. */
void leakwrap_begin_resize(struct leakwrap_resize *was, void *block, size_t size, uintptr_t sp);

/* The same for an allocator that the user named. */
void leakwrap_resizing_inside(struct leakwrap_resize *was, void *block, size_t size, uintptr_t sp);

/* After it: the call returned BLOCK.  NULL restores the old record, unless SIZE was 0 and errno shows
 * no failure.  errno ends as the real call alone would have left it.  Returns BLOCK. */
void *leakwrap_end_resize(struct leakwrap_resize *was, void *block, size_t size,
                          LEAKWRAP_CALLER_PARAMS);

/* The same where leakwrap_fast_take (fast_path.h) returned KNOWN of OLD. */
void *leakwrap_end_fast_resize(uint32_t known, void *old, void *block, size_t size,
                               LEAKWRAP_CALLER_PARAMS);

/* -- replace ------------------------------------------------------------------------------------- */

/* getline and its kind may wait for hours with the caller's buffer, which stays live meanwhile, and
 * may put a larger one in its place. */
struct leakwrap_replacement {
	void *block;     /* the buffer before the call, or NULL */
	size_t capacity; /* as the caller has it */
	size_t size;     /* as the live table had it, when SITE is not 0 */
	uint32_t site;
};

/* Before the real call, which may replace BLOCK, of CAPACITY bytes as far as the caller knows. */
struct leakwrap_replacement leakwrap_begin_replacement(void *block, size_t capacity);

/* After it: the buffer is BLOCK now and has SIZE bytes.  When it is the old one with its old capacity,
 * the record stays as it was. */
void leakwrap_end_replacement(struct leakwrap_replacement held, void *block, size_t size,
                              LEAKWRAP_CALLER_PARAMS);

#endif
