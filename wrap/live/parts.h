/* parts.h - the parts of a block that a pool hands out.
 *
 * A pool takes a large block and hands out parts of it.  Where the link names the pool's functions,
 * or the program reports what the pool hands out, the parts have records of their own, and the
 * large block is hidden.  A pool may free all parts at once by freeing the block.
 */
#ifndef LEAKWRAP_PARTS_H
#define LEAKWRAP_PARTS_H

#include <stddef.h>

#ifndef LEAKWRAP_BARE

/* Notes that a block is recorded that a pool has handed out.  Before, leakwrap_parts_remove does
 * nothing. */
void leakwrap_parts_note(void);

/* Removes the records of all blocks in the SIZE bytes at BLOCK: a hidden block whose own record is
 * gone, or the end of one, and that is about to be freed.  Takes about 0.1 ms for each MiB.  May
 * take the tables' lock. */
void leakwrap_parts_remove(const void *block, size_t size);

#else

/* Without an operating system the parts are freed one by one. */
static inline void leakwrap_parts_note(void)
{
}

static inline void leakwrap_parts_remove(const void *block, size_t size)
{
	(void)block, (void)size;
}

#endif

#endif
