/* frame_cache.h - the frames that a dump has written, as text: call sites share most of theirs, and to look a name up
 * and to format it takes many times as long as to copy it.  Signal-safe; one thread at a time.
 *
 * Where memory is counted in kilobytes there is none for this, and nothing is known. */
#ifndef LEAKWRAP_FRAME_CACHE_H
#define LEAKWRAP_FRAME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/line_writer.h"

#ifndef LEAKWRAP_BARE

/* From here to the end frames are kept, as long as there is room: in memory that is mapped for it.  None are known at first, or
 * without that memory. */
void leakwrap_frame_cache_start(void);
void leakwrap_frame_cache_end(void);

/* Writes the line of frame LEVEL at the return address PC, if it is known.  False: nothing was written. */
bool leakwrap_frame_cache_write(struct leakwrap_writer *writer, unsigned level, uintptr_t pc);

/* The SIZE bytes of TEXT are what follows the level in each line of a frame at the return address PC.  Keeps a copy, unless they are too
 * many; what is known of others may be forgotten for it. */
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
