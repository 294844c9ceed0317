/* thread_memory.h - memory blocks for threads.
 *
 * A block is mapped once and used by one thread after another.  The end of a thread is not
 * reported.  Its block stays.  A new thread first searches for a block whose owner has ended.  It
 * maps a new block if there is none.  Where there are many blocks, not every thread searches.
 */
#ifndef LEAKWRAP_THREAD_MEMORY_H
#define LEAKWRAP_THREAD_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>

struct leakwrap_thread_memory_block;

/* All blocks of one purpose and size. */
struct leakwrap_thread_memory {
	size_t size; /* bytes of a block that the thread may use */
	struct leakwrap_thread_memory_block *_Atomic newest;
	struct leakwrap_thread_memory_block *_Atomic found; /* result of the last search, or NULL */
	_Atomic int unsearched; /* number of blocks to map before the next search */
};

/* Returns SIZE bytes for this thread, which has no block of BLOCKS yet, or NULL if there is no
 * memory.  The contents are zero or what an earlier thread left.  Signal-safe. */
void *leakwrap_thread_memory_take(struct leakwrap_thread_memory *blocks);

/* Call in a forked child, which has one thread.  That thread keeps OWN (NULL: it has no block).
 * Frees all other blocks for reuse. */
void leakwrap_thread_memory_reset_after_fork(struct leakwrap_thread_memory *blocks,
                                             const void *own);

#endif
