/* recall.h - recognizes a stack that was walked before: what the allocation path needs of the call-site table.
 *
 *   pc, room ──► hint: a call site, and so a layout ──► do the words at its places say the same? ──► number
 *                         │ the layout has several call sites                  ▲
 *                         └─► key of the varying words ──► set ──► call site ──┘
 *
 * Where a stack begins (the caller's pc, and how far below the upper end of the thread's stack) hints at a call
 * site with the layout that the stack may have.  When several call sites share that layout, up to four return
 * addresses which are known to differ between them choose one (sites.c learns which; when four do not suffice,
 * all are used).  Whatever was chosen is compared word by word: a recognized stack is exactly the one that was
 * walked, and a wrong choice only costs a walk.
 */
#ifndef LEAKWRAP_RECALL_H
#define LEAKWRAP_RECALL_H

#ifdef LEAKWRAP_SMALL
#include "bare/recall.h"
#else

#include "common.h"
#include "layout.h"
#include "modules.h"
#include "sites.h"

/* -- hints --------------------------------------------------------------------------------------- */

/* Lossy and shared: an entry is overwritten freely.  Threads that do the same come to the same places below the
 * upper ends of their stacks; where stacks of several forms begin at one place, each has a hint, the newest first. */
#define LEAKWRAP_HINT_SETS_BITS 11
#define LEAKWRAP_HINT_WAYS      4

struct leakwrap_hints {
	const struct leakwrap_site *_Atomic way[LEAKWRAP_HINT_WAYS];
};

extern LEAKWRAP_HIDDEN struct leakwrap_hints leakwrap_hint_sets[1 << LEAKWRAP_HINT_SETS_BITS];

LEAKWRAP_INLINE struct leakwrap_hints *leakwrap_hints(uintptr_t room, uintptr_t pc)
{
	uint32_t mixed = ((uint32_t)pc + (uint32_t)room * 0x9e3779b1u) * 0x85ebca6bu;

	return &leakwrap_hint_sets[mixed >> (32 - LEAKWRAP_HINT_SETS_BITS)];
}

/* -- keys ---------------------------------------------------------------------------------------- */

/* Factors for sums over a backtrace; random and odd, so that frames which trade places change the sum. */
extern LEAKWRAP_HIDDEN uintptr_t leakwrap_site_factor[LEAKWRAP_MAX_DEPTH];

/* Brings every bit of a sum to the upper ones. */
LEAKWRAP_INLINE uintptr_t leakwrap_finish_key(uintptr_t sum)
{
	return (sum ^ sum >> (sizeof(sum) * 4)) * (uintptr_t)0x9e3779b97f4a7c15u;
}

/* One more of the four words of a key. */
LEAKWRAP_INLINE uintptr_t leakwrap_extend_key(uintptr_t key, uintptr_t word)
{
	return (key + word) * (uintptr_t)0xbf58476d1ce4e5b9u;
}

/* The key of all return addresses of the stack at SP. */
uintptr_t leakwrap_site_key_of_all(const struct leakwrap_layout *layout, uintptr_t pc, uintptr_t sp);

/* The return address at the varying place NUMBER. */
LEAKWRAP_INLINE uintptr_t leakwrap_varying_return(const struct leakwrap_layout *layout, unsigned number,
                                                  uintptr_t sp)
{
	uint16_t place = atomic_load_explicit(&layout->varying[number], memory_order_relaxed);

	return leakwrap_return_at(sp, place * (uint32_t)sizeof(uintptr_t));
}

/* The key of the stack at SP among the call sites of LAYOUT.  While another thread changes what tells them apart it
 * may be any value. */
LEAKWRAP_INLINE uintptr_t leakwrap_site_key(const struct leakwrap_layout *layout, uintptr_t pc,
                                            uintptr_t sp)
{
	uintptr_t key = pc;

	if (leakwrap_unlikely(atomic_load_explicit(&layout->told_by, memory_order_relaxed) ==
	                      LEAKWRAP_TOLD_BY_ALL))
		return leakwrap_site_key_of_all(layout, pc, sp);
	key = leakwrap_extend_key(key, leakwrap_varying_return(layout, 0, sp));
	key = leakwrap_extend_key(key, leakwrap_varying_return(layout, 1, sp));
	key = leakwrap_extend_key(key, leakwrap_varying_return(layout, 2, sp));
	key = leakwrap_extend_key(key, leakwrap_varying_return(layout, 3, sp));
	return leakwrap_finish_key(key);
}

/* -- sets ---------------------------------------------------------------------------------------- */

/* A set is one cache line: a byte of the key of each of its call sites, and pointers to them.  Lossy and shared: a
 * reader may find any mixture of old and new, and trusts nothing that it has not compared. */
#define LEAKWRAP_SITE_WAYS      (sizeof(uintptr_t) - 1)

struct leakwrap_site_set {
	_Atomic uintptr_t tags; /* of way n in byte n; the uppermost byte stays 0 */
	const struct leakwrap_site *_Atomic way[LEAKWRAP_SITE_WAYS];
};

struct leakwrap_site_cache {
	uintptr_t mask; /* sets - 1 */
	_Alignas(sizeof(struct leakwrap_site_set)) struct leakwrap_site_set set[];
};

extern LEAKWRAP_HIDDEN struct leakwrap_site_cache *_Atomic leakwrap_site_cache;

LEAKWRAP_INLINE struct leakwrap_site_set *leakwrap_site_set(struct leakwrap_site_cache *cache,
                                                            uintptr_t key)
{
	return &cache->set[(key >> (sizeof(key) * 2)) & cache->mask];
}

/* Never 0, which stands in empty ways. */
LEAKWRAP_INLINE uintptr_t leakwrap_site_tag(uintptr_t key)
{
	return key >> (sizeof(key) * 8 - 8) | 1;
}

/* The ways of SET that may hold a call site with KEY: the upper bit of each one's byte.  All are looked at
 * together, since nobody could predict in which it is (a byte is 0 when subtracting 1 borrows from it; the borrow
 * may mark a byte too many). */
LEAKWRAP_INLINE uintptr_t leakwrap_site_candidates(struct leakwrap_site_set *set, uintptr_t key)
{
	const uintptr_t ones = UINTPTR_MAX / 0xff;
	uintptr_t x =
	        atomic_load_explicit(&set->tags, memory_order_relaxed) ^ leakwrap_site_tag(key) * ones;

	return (x - ones) & ~x & ones << 7;
}

/* Takes one of CANDIDATES, which is not 0, away. */
LEAKWRAP_INLINE const struct leakwrap_site *leakwrap_site_candidate(struct leakwrap_site_set *set,
                                                                    uintptr_t *candidates)
{
	unsigned way = (unsigned)__builtin_ctzll(*candidates) / 8;

	*candidates &= *candidates - 1;
	return way < LEAKWRAP_SITE_WAYS ? atomic_load_explicit(&set->way[way], memory_order_acquire)
	                                : NULL;
}

/* -- recalling ----------------------------------------------------------------------------------- */

/* Has the stack at SP, with its room, LAYOUT and the backtrace of SITE, which was seen with that layout? */
LEAKWRAP_INLINE bool leakwrap_site_is_of(const struct leakwrap_site *site,
                                         const struct leakwrap_layout *layout, uintptr_t pc,
                                         uintptr_t sp, uintptr_t fp)
{
	return site->pcs[0] == pc && leakwrap_layout_holds(layout, sp, fp, &site->pcs[1]);
}

/* The layout of the hinted SITE, if it is good now and a stack with ROOM may have it; else NULL. */
LEAKWRAP_INLINE const struct leakwrap_layout *leakwrap_layout_hinted(const struct leakwrap_site *site,
                                                                     uintptr_t room)
{
	const struct leakwrap_layout *layout;

	if (leakwrap_unlikely(!site))
		return NULL;
	layout = atomic_load_explicit(&site->layout, memory_order_acquire);
	return leakwrap_likely(leakwrap_layout_is_good(layout) && layout->extent <= room) ? layout
	                                                                                  : NULL;
}

/* Do several call sites share LAYOUT? */
LEAKWRAP_INLINE bool leakwrap_layout_is_shared(const struct leakwrap_layout *layout)
{
	return atomic_load_explicit(&layout->told_by, memory_order_relaxed) != LEAKWRAP_TOLD_BY_NONE;
}

/* The call site that the stack of PC, SP and FP has, which has room for the shared LAYOUT; or NULL. */
LEAKWRAP_INLINE const struct leakwrap_site *
leakwrap_site_among(const struct leakwrap_layout *layout, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	uintptr_t key = leakwrap_site_key(layout, pc, sp);
	struct leakwrap_site_set *set = leakwrap_site_set(
	        atomic_load_explicit(&leakwrap_site_cache, memory_order_acquire), key);
	uintptr_t candidates = leakwrap_site_candidates(set, key);

	while (candidates != 0) {
		const struct leakwrap_site *site = leakwrap_site_candidate(set, &candidates);

		if (site && atomic_load_explicit(&site->layout, memory_order_acquire) == layout &&
		    leakwrap_site_is_of(site, layout, pc, sp, fp))
			return site;
	}
	return NULL;
}

/* The number of the call site whose backtrace a walk from PC, SP and FP would give, when such a stack has been
 * seen on a thread's own stack; else LEAKWRAP_SITE_NONE.  Signal-safe, no lock. */
uint32_t leakwrap_site_recall(uintptr_t pc, uintptr_t sp, uintptr_t fp);

#endif

#endif
