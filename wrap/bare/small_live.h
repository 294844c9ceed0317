/* small_live.h - the live table for memories of kilobytes: one hash table of fixed size.  live.h
 * includes this file instead of its own declarations.  All functions take the live table's lock. */
#ifndef LEAKWRAP_SMALL_LIVE_H
#define LEAKWRAP_SMALL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of call sites are below this limit.  They must fit into 16 bits. */
#define LEAKWRAP_SITE_LIMIT ((uint32_t)1 << 16)

/* Takes the table out of the arena.  Call it once at the start. */
void leakwrap_live_start(void);

enum leakwrap_live_added {
	LEAKWRAP_LIVE_NEW,
	LEAKWRAP_LIVE_REPLACED,  /* overwrote an older record of the same address */
	LEAKWRAP_LIVE_UNTRACKED, /* not recorded: the table is full */
};

/* Records that SIZE bytes at BLOCK are live, allocated by call site SITE. */
enum leakwrap_live_added leakwrap_live_add(const void *block, size_t size, uint32_t site);

/* Removes the record of BLOCK.  Returns false if BLOCK is not recorded. */
bool leakwrap_live_fast_remove(const void *block);

/* The record of a live block. */
struct leakwrap_live_block {
	uintptr_t address;
	size_t size;
	uint32_t site; /* 0: the block is not recorded */
};

/* Removes the record of BLOCK.  Returns its call site and sets *SIZE.  Returns 0 if BLOCK is not
 * recorded. */
uint32_t leakwrap_live_remove(const void *block, size_t *size);

/* Returns the record of the block that starts at BLOCK. */
struct leakwrap_live_block leakwrap_live_find(const void *block);

/* Does nothing: the table has a fixed size. */
static inline void leakwrap_live_reclaim_pages(void)
{
}

/* Calls VISIT for every live block while it holds the lock. */
void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context);

#endif
