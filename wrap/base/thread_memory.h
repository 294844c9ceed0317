/* thread_memory.h - memory blocks for threads.
 *
 * A block is mapped once and used by one thread after another.  The end of a thread is not
 * reported.  Its block stays.  A new thread first searches for a block whose owner has ended.  It
 * maps new blocks if there is none: a page of small ones, or one.  Where there are many blocks, not
 * every thread searches.
 */
#ifndef LEAKWRAP_THREAD_MEMORY_H
#define LEAKWRAP_THREAD_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
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

/* Returns the block behind BLOCK among BLOCKS, or the first if BLOCK is NULL.  Returns NULL behind
 * the last.  The block may have no owner.  Signal-safe. */
void *leakwrap_thread_memory_next(const struct leakwrap_thread_memory *blocks, const void *block);

/* Returns whether BLOCK has no owner, or its owner has ended.  Signal-safe. */
bool leakwrap_thread_memory_is_left(const void *block);

/* Call in a forked child, which has one thread.  That thread keeps OWN (NULL: it has no block).
 * Frees all other blocks for reuse. */
void leakwrap_thread_memory_reset_in_child(struct leakwrap_thread_memory *blocks, const void *own);

#endif
