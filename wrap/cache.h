/* cache.h - pointers under keys, for those who look without a lock: lossy, shared, and never to be trusted.
 *
 * A set is one cache line: a byte of the key of each of its entries, and pointers to them.  A reader may find any
 * mixture of old and new, and compares whatever it is given.  Looking is signal-safe.
 */
#ifndef LEAKWRAP_CACHE_H
#define LEAKWRAP_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"

#define LEAKWRAP_CACHE_WAYS (sizeof(uintptr_t) - 1)

struct leakwrap_cache_set {
	_Atomic uintptr_t tags; /* of way n in byte n; the uppermost byte stays 0 */
	void *_Atomic way[LEAKWRAP_CACHE_WAYS];
};

struct leakwrap_cache {
	uintptr_t mask; /* sets - 1 */
	_Alignas(sizeof(struct leakwrap_cache_set)) struct leakwrap_cache_set set[];
};

/* One set that stays empty: what a pointer to a cache holds at first. */
extern LEAKWRAP_HIDDEN struct leakwrap_cache leakwrap_cache_empty;

/* Brings every bit of a sum of products to the upper ones: makes a key of it. */
LEAKWRAP_INLINE uintptr_t leakwrap_cache_key(uintptr_t sum)
{
	return (sum ^ sum >> (sizeof(sum) * 4)) * (uintptr_t)0x9e3779b97f4a7c15u;
}

LEAKWRAP_INLINE struct leakwrap_cache_set *leakwrap_cache_set(struct leakwrap_cache *cache,
                                                              uintptr_t key)
{
	return &cache->set[(key >> (sizeof(key) * 2)) & cache->mask];
}

/* Never 0, which stands in empty ways. */
LEAKWRAP_INLINE uintptr_t leakwrap_cache_tag(uintptr_t key)
{
	return key >> (sizeof(key) * 8 - 8) | 1;
}

/* The ways of SET that may hold an entry with KEY: the upper bit of each one's byte.  All are looked at
 * together, since nobody could predict in which it is (a byte is 0 when subtracting 1 borrows from it; the borrow
 * may mark a byte too many). */
LEAKWRAP_INLINE uintptr_t leakwrap_cache_candidates(struct leakwrap_cache_set *set, uintptr_t key)
{
	const uintptr_t ones = UINTPTR_MAX / 0xff;
	uintptr_t x =
	        atomic_load_explicit(&set->tags, memory_order_relaxed) ^ leakwrap_cache_tag(key) * ones;

	return (x - ones) & ~x & ones << 7;
}

/* Takes one of CANDIDATES, which is not 0, away.  NULL: there is nothing. */
LEAKWRAP_INLINE void *leakwrap_cache_candidate(struct leakwrap_cache_set *set, uintptr_t *candidates)
{
	unsigned way = (unsigned)__builtin_ctzll(*candidates) / 8;

	*candidates &= *candidates - 1;
	return way < LEAKWRAP_CACHE_WAYS ? atomic_load_explicit(&set->way[way], memory_order_acquire)
	                                 : NULL;
}

/* Puts ENTRY first in its set; what was last there falls out.  The tables' lock is held. */
void leakwrap_cache_put(struct leakwrap_cache *cache, uintptr_t key, void *entry);

/* Is CACHE large enough for COUNT entries, so that hardly a set overflows? */
bool leakwrap_cache_suffices(const struct leakwrap_cache *cache, size_t count);

/* An empty cache of twice the size of CACHE, or NULL when there is no memory.  The outgrown one stays mapped, since another
 * thread may be reading it. */
struct leakwrap_cache *leakwrap_cache_larger(const struct leakwrap_cache *cache);

#endif
