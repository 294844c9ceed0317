/* frame_cache.c - see frame_cache.h. */
#include "report/frame_cache.h"

#include "wrap/module/registry.h"
#include "wrap/port/port.h"

#include <string.h>

struct leakwrap_frame_cache *leakwrap_frame_cache;

void leakwrap_frame_cache_start(void)
{
	leakwrap_frame_cache = leakwrap_scratch_map(sizeof(*leakwrap_frame_cache));
}

void leakwrap_frame_cache_end(void)
{
	if (leakwrap_frame_cache)
		leakwrap_scratch_unmap(leakwrap_frame_cache, sizeof(*leakwrap_frame_cache));
	leakwrap_frame_cache = NULL;
}

void leakwrap_frame_cache_drop_stale(void)
{
	struct leakwrap_frame_cache *cache = leakwrap_frame_cache;
	const unsigned generation = leakwrap_modules_generation();

	if (!cache || cache->generation == generation)
		return;
	if (cache->count > 0)
		memset(cache->bucket, 0, sizeof(cache->bucket));
	cache->count = 0;
	cache->generation = generation;
}

void leakwrap_frame_cache_store(uintptr_t pc, const char *text, size_t size)
{
	struct leakwrap_frame_cache *cache = leakwrap_frame_cache;
	uint16_t *bucket = cache ? leakwrap_frame_cache_bucket(cache, pc) : NULL;
	struct leakwrap_cached_frame *frame;

	if (!bucket || size >= sizeof(frame->text) ||
	    (*bucket == 0 && cache->count == LEAKWRAP_FRAME_CACHE_FRAMES))
		return;
	if (*bucket == 0)
		*bucket = ++cache->count;
	frame = &cache->frame[*bucket];
	frame->pc = pc;
	frame->size = (uint16_t)(size + 1);
	memcpy(frame->text, text, size);
	frame->text[size] = '\n';
}
