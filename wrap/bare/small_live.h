/* small_live.h - the live table where memory is counted in kilobytes: the interface of ../live.h, which includes this
 * file in the place of its own, over one hash table of fixed size. */
#ifndef LEAKWRAP_SMALL_LIVE_H
#define LEAKWRAP_SMALL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Call sites are numbered below this; they must fit into 16 bits. */
#define LEAKWRAP_SITE_LIMIT ((uint32_t)1 << 16)

/* At start: takes the table out of the arena. */
void leakwrap_live_start(void);

enum leakwrap_live_added {
	LEAKWRAP_LIVE_NEW,
	LEAKWRAP_LIVE_REPLACED,  /* in the place of an older record of the same address */
	LEAKWRAP_LIVE_UNTRACKED, /* the table is full */
};

/* Records that SIZE bytes at BLOCK are live. */
enum leakwrap_live_added leakwrap_live_add(const void *block, size_t size, uint32_t site);

/* Forgets BLOCK.  False when it is not recorded. */
bool leakwrap_live_fast_remove(const void *block);

/* What is recorded of a block. */
struct leakwrap_live_block {
	uintptr_t address;
	size_t size;
	uint32_t site; /* 0: not recorded */
};

/* Forgets BLOCK.  Returns its call site and sets *SIZE, or returns 0 when it is not recorded. */
uint32_t leakwrap_live_remove(const void *block, size_t *size);

/* The record of the block that starts at BLOCK. */
struct leakwrap_live_block leakwrap_live_find(const void *block);

/* The table is as large as the arena has room for, and stays. */
static inline void leakwrap_live_reclaim_pages(void)
{
}

/* Calls VISIT for every live block, with the lock held. */
void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context);

#endif
