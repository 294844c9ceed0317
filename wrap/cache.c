/* cache.c - see cache.h.  Called when something is met the first time, with the tables' lock held. */
#include "cache.h"

#include "port.h"

#define FIRST_SETS 64

struct leakwrap_cache leakwrap_cache_empty = {.mask = 0, .set = {{.tags = 0}}};

void leakwrap_cache_put(struct leakwrap_cache *cache, uintptr_t key, void *entry)
{
	struct leakwrap_cache_set *set = leakwrap_cache_set(cache, key);
	uintptr_t tags = atomic_load(&set->tags) << 8 & UINTPTR_MAX >> 8;

	if (cache == &leakwrap_cache_empty)
		return;
	for (unsigned way = 0; way < LEAKWRAP_CACHE_WAYS && entry; way++)
		entry = atomic_exchange(&set->way[way], entry);
	atomic_store(&set->tags, tags | leakwrap_cache_tag(key));
}

/* At most half of the ways are in use. */
bool leakwrap_cache_suffices(const struct leakwrap_cache *cache, size_t count)
{
	return cache != &leakwrap_cache_empty && count * 2 <= (cache->mask + 1) * LEAKWRAP_CACHE_WAYS;
}

struct leakwrap_cache *leakwrap_cache_larger(const struct leakwrap_cache *cache)
{
	uintptr_t sets = cache == &leakwrap_cache_empty ? FIRST_SETS : (cache->mask + 1) * 2;
	struct leakwrap_cache *larger =
	        leakwrap_pages_map(sizeof(*larger) + sets * sizeof(larger->set[0]));

	if (larger)
		larger->mask = sets - 1;
	return larger;
}
