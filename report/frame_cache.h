/* frame_cache.h - caches the text of the frames that a dump has written.
 *
 * Call sites share most of their frames.  To look a name up and to format it takes many times as
 * long as to copy the text.  All functions are signal-safe, and are called by the thread that
 * writes the dump.
 *
 * Bare-metal builds count memory in kilobytes: their cache is always empty. */
#ifndef LEAKWRAP_FRAME_CACHE_H
#define LEAKWRAP_FRAME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/line_writer.h"

#ifndef LEAKWRAP_BARE

/* Maps memory for an empty cache, and unmaps it.  Called at the start and at the end of a dump.  If
 * there is no memory, the cache stays empty. */
void leakwrap_frame_cache_start(void);
void leakwrap_frame_cache_end(void);

/* Writes the line of frame LEVEL at the return address PC to WRITER from the cache.  Returns
 * false, and writes nothing, if the cache does not hold PC. */
bool leakwrap_frame_cache_write(struct leakwrap_writer *writer, unsigned level, uintptr_t pc);

/* Stores a copy of the SIZE bytes at TEXT for the return address PC: what follows the level in
 * each line of a frame at PC.  Stores nothing if SIZE is too large or the cache is full.  The copy
 * may evict the text of another return address. */
void leakwrap_frame_cache_store(uintptr_t pc, const char *text, size_t size);

#else

static inline void leakwrap_frame_cache_start(void)
{
}

static inline void leakwrap_frame_cache_end(void)
{
}

static inline bool leakwrap_frame_cache_write(struct leakwrap_writer *writer, unsigned level,
                                              uintptr_t pc)
{
	(void)writer, (void)level, (void)pc;
	return false;
}

static inline void leakwrap_frame_cache_store(uintptr_t pc, const char *text, size_t size)
{
	(void)pc, (void)text, (void)size;
}

#endif
#endif
