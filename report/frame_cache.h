/* frame_cache.h - stores the text of the frames that a dump has written.
 *
 * Call sites share most of their frames.  To look a name up and to format it takes many times as
 * long as to copy the text.  The cache holds bytes; frame_writer.c writes lines of them.  All
 * functions are signal-safe, and are called by the thread that writes the dump.
 *
 * The cache is direct-mapped: each return address has one bucket, and evicts the address that was
 * in it.  A bucket holds the index of a frame.  Frames are numbered in the order in which they
 * come, so that the dump touches memory only for the frames that it stores.
 *
 * Bare-metal builds count memory in kilobytes: they have no cache. */
#ifndef LEAKWRAP_FRAME_CACHE_H
#define LEAKWRAP_FRAME_CACHE_H

#include <stddef.h>
#include <stdint.h>

#ifndef LEAKWRAP_BARE

#include "wrap/base/common.h"
#include "wrap/base/hash.h"
#include "wrap/base/options.h"

/* The text of the frames at PC: what follows the level in each of their lines. */
struct leakwrap_cached_frame {
	uintptr_t pc;
	uint16_t size;                                         /* bytes of text; 0: none */
	char text[256 - sizeof(uintptr_t) - sizeof(uint16_t)]; /* ends in LF */
};

/* The beginning of the lines of the frames of one level: the prefix and the level. */
struct leakwrap_cached_head {
	uint8_t size; /* bytes of text; 0: not stored yet */
	char text[95];
};

/* There are twice as many buckets as frames, so that few frames are evicted. */
#define LEAKWRAP_FRAME_CACHE_BITS   15
#define LEAKWRAP_FRAME_CACHE_FRAMES ((1 << 14) - 1)

/* Most of this memory is never touched. */
struct leakwrap_frame_cache {
	struct leakwrap_cached_head head[LEAKWRAP_MAX_DEPTH]; /* by level */
	uint16_t bucket[1 << LEAKWRAP_FRAME_CACHE_BITS];      /* the index of a frame; 0: none */
	uint16_t count;                                       /* frames in use */
	unsigned generation; /* of the modules that the frames name (registry.h) */
	_Alignas(256) struct leakwrap_cached_frame frame[1 + LEAKWRAP_FRAME_CACHE_FRAMES];
};

/* NULL if no dump is written, or if there is no memory for the cache. */
extern LEAKWRAP_HIDDEN struct leakwrap_frame_cache *leakwrap_frame_cache;

/* Maps memory for an empty cache, and unmaps it.  Called at the start and at the end of a dump. */
void leakwrap_frame_cache_start(void);
void leakwrap_frame_cache_end(void);

/* Forgets all frames if the list of modules has changed: another module may be at their addresses.
 * Called before each backtrace. */
void leakwrap_frame_cache_drop_stale(void);

/* Returns the bucket of PC in CACHE.  Fibonacci hashing spreads neighbouring addresses: the factor
 * is 2^32 divided by the golden ratio. */
static inline uint16_t *leakwrap_frame_cache_bucket(struct leakwrap_frame_cache *cache,
                                                    uintptr_t pc)
{
	return &cache->bucket[(uint32_t)pc * LEAKWRAP_HASH_FACTOR_32 >>
	                      (32 - LEAKWRAP_FRAME_CACHE_BITS)];
}

/* Returns the text of the frames at the return address PC, or NULL if the cache does not hold it.
 * Valid until more is stored. */
static inline const struct leakwrap_cached_frame *leakwrap_frame_cache_find(uintptr_t pc)
{
	struct leakwrap_frame_cache *cache = leakwrap_frame_cache;
	const struct leakwrap_cached_frame *frame =
	        cache ? &cache->frame[*leakwrap_frame_cache_bucket(cache, pc)] : NULL;

	return frame && frame->pc == pc && frame->size > 0 ? frame : NULL;
}

/* Stores a copy of the SIZE bytes at TEXT, and a LF, for the return address PC.  Stores nothing if
 * SIZE is too large or the cache is full.  The copy may evict the text of another return
 * address. */
void leakwrap_frame_cache_store(uintptr_t pc, const char *text, size_t size);

#else

static inline void leakwrap_frame_cache_start(void)
{
}

static inline void leakwrap_frame_cache_end(void)
{
}

static inline void leakwrap_frame_cache_drop_stale(void)
{
}

static inline void leakwrap_frame_cache_store(uintptr_t pc, const char *text, size_t size)
{
	(void)pc, (void)text, (void)size;
}

#endif
#endif
