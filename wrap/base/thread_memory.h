/* thread_memory.h - memory of a thread: mapped once, used by one thread after the other.
 *
 * A thread that ends tells nobody.  Its block stays, and a new thread that needs one looks whether the owner
 * of an old one has ended before it maps another; where there are many, not each time. */
#ifndef LEAKWRAP_THREAD_MEMORY_H
#define LEAKWRAP_THREAD_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>

struct leakwrap_thread_memory_block;

/* All blocks of one purpose and size. */
struct leakwrap_thread_memory {
	size_t size; /* of what the thread gets */
	struct leakwrap_thread_memory_block *_Atomic newest;
	struct leakwrap_thread_memory_block *_Atomic found; /* by the last search, or NULL */
	_Atomic int unsearched;                             /* so many are mapped before the next one */
};

/* SIZE bytes for this thread, which has none yet, or NULL when there is no memory.  Their contents are what
 * an earlier thread left, or zero.  Signal-safe. */
void *leakwrap_thread_memory_take(struct leakwrap_thread_memory *blocks);

/* In a forked child, which has one thread: that thread keeps OWN (or has none, NULL), all others are free. */
void leakwrap_thread_memory_reset_after_fork(struct leakwrap_thread_memory *blocks, const void *own);

#endif
