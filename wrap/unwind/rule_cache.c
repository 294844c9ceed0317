/* rule_cache.c - see rule_cache.h. */
#include "wrap/unwind/rule_cache.h"

#include <string.h>

#include "wrap/base/hash.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"

/* -- the wide table: rules that do not fit into a slot ----------------------------------------- */

/* An open-addressing set that only grows.  An entry is claimed, written, then published.  A search
 * skips an entry that is still being written: by another thread, or by the code that this signal
 * handler interrupted.  Then a rule may stand in the table twice, which does no harm. */
enum { ENTRY_FREE, ENTRY_CLAIMED, ENTRY_READY };

struct entry {
	struct leakwrap_rule rule;
	_Atomic uint32_t state;
};

#define ENTRIES LEAKWRAP_RULE_ENTRIES
#define PROBES  64u /* after them the table counts as full, and the rule is not stored */

static struct entry *_Atomic wide_table;

/* Returns the SIZE bytes of pages at *SHARED.  The first caller maps them.  Returns NULL if there
 * is no memory. */
static void *map_once(void *_Atomic *shared, size_t size)
{
	void *pages = atomic_load_explicit(shared, memory_order_acquire);
	void *fresh;

	if (leakwrap_likely(pages != NULL))
		return pages;
	fresh = leakwrap_pages_map_sparse(size, true);
	if (!fresh)
		return NULL;
	if (atomic_compare_exchange_strong(shared, &pages, fresh))
		return fresh;
	leakwrap_pages_unmap(fresh, size);
	return pages;
}

static uint32_t hash(const struct leakwrap_rule *rule)
{
	uint32_t words[sizeof(*rule) / sizeof(uint32_t)];
	uint32_t h = 0;

	memcpy(words, rule, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		h = (h ^ words[i]) * LEAKWRAP_HASH_FACTOR_32;
	return h ^ h >> 15;
}

/* Adds RULE to the wide table, unless it is there already.  Returns its number, or ENTRIES if there
 * is no room. */
static uint32_t intern_rule(const struct leakwrap_rule *rule)
{
	struct entry *table = map_once((void *_Atomic *)&wide_table, ENTRIES * sizeof(*table));
	uint32_t start = hash(rule);

	if (!table)
		return ENTRIES;
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t number = (start + i) % ENTRIES;
		struct entry *entry = &table[number];
		uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);

		if (state == ENTRY_READY && memcmp(&entry->rule, rule, sizeof(*rule)) == 0)
			return number;
		if (state == ENTRY_FREE &&
		    atomic_compare_exchange_strong(&entry->state, &state, ENTRY_CLAIMED)) {
			entry->rule = *rule;
			atomic_store_explicit(&entry->state, ENTRY_READY, memory_order_release);
			return number;
		}
	}
	return ENTRIES;
}

/* -- slots ------------------------------------------------------------------------------------- */

#if LEAKWRAP_HAVE_INLINE_RULES

/* Stores OFFSET in *WORDS as a number of words.  Returns false if it does not fit into a field of a
 * slot. */
static bool to_field(int32_t offset, leakwrap_rule_slot *words)
{
	*words = (leakwrap_rule_slot)(offset / LEAKWRAP_WORD);
	return offset >= 0 && offset % LEAKWRAP_WORD == 0 && *words < (1u << LEAKWRAP_RULE_FIELD);
}

/* Stores RULE in *PACKED as the low bits of a slot.  Returns false if RULE does not fit there. */
static bool pack(const struct leakwrap_rule *rule, leakwrap_rule_slot *packed)
{
	leakwrap_rule_slot cfa, saved, flags = 0;

	if (rule->kind == LEAKWRAP_RULE_END) {
		*packed = 0;
		return true;
	}
	if (rule->kind != LEAKWRAP_RULE_FRAME || !to_field(rule->cfa_offset, &cfa) ||
	    rule->ra_where != LEAKWRAP_SAVED_AT_CFA)
		return false;
	if (rule->base == LEAKWRAP_BASE_FP)
		flags |= LEAKWRAP_RULE_FP;
#if LEAKWRAP_CALL_PUSHES
	if (rule->ra_offset != -LEAKWRAP_WORD || cfa == 0)
		return false;
	if (rule->fp_where == LEAKWRAP_SAVED_IN_REGISTER)
		saved = 1;
	else if (rule->fp_where != LEAKWRAP_SAVED_AT_CFA || rule->fp_offset >= rule->ra_offset ||
	         !to_field(-rule->fp_offset, &saved) || saved > cfa)
		return false;
#else
	if (rule->fp_where == LEAKWRAP_SAVED_IN_REGISTER) {
		if (!to_field(-rule->ra_offset, &saved) || saved == 0)
			return false;
	} else {
		if (rule->fp_where != LEAKWRAP_SAVED_AT_CFA ||
		    rule->ra_offset != rule->fp_offset + LEAKWRAP_WORD ||
		    !to_field(-rule->fp_offset, &saved) || saved < 2)
			return false;
		flags |= LEAKWRAP_RULE_PAIR;
	}
#endif
	*packed = flags | saved << LEAKWRAP_RULE_FIELD | cfa;
	return true;
}

/* Returns the rule that pack has put into SLOT. */
static struct leakwrap_rule unpack(leakwrap_rule_slot slot)
{
	struct leakwrap_rule rule = {
	        .kind = LEAKWRAP_RULE_FRAME,
	        .ra_where = LEAKWRAP_SAVED_AT_CFA,
	};
	leakwrap_rule_slot mask = (1u << LEAKWRAP_RULE_FIELD) - 1;
	int32_t saved = (int32_t)(slot >> LEAKWRAP_RULE_FIELD & mask) * LEAKWRAP_WORD;

	if (slot % ((leakwrap_rule_slot)1 << LEAKWRAP_RULE_BITS) == 0)
		return (struct leakwrap_rule){.kind = LEAKWRAP_RULE_END};
	rule.cfa_offset = (int32_t)(slot & mask) * LEAKWRAP_WORD;
	rule.base = slot & LEAKWRAP_RULE_FP ? LEAKWRAP_BASE_FP : LEAKWRAP_BASE_SP;
#if LEAKWRAP_CALL_PUSHES
	rule.ra_offset = -LEAKWRAP_WORD;
	if (saved != LEAKWRAP_WORD) {
		rule.fp_offset = -saved;
		rule.fp_where = LEAKWRAP_SAVED_AT_CFA;
	}
#else
	if (slot & LEAKWRAP_RULE_PAIR) {
		rule.fp_offset = -saved;
		rule.fp_where = LEAKWRAP_SAVED_AT_CFA;
		rule.ra_offset = LEAKWRAP_WORD - saved;
	} else {
		rule.ra_offset = -saved;
	}
#endif
	return rule;
}

#endif

struct leakwrap_rule leakwrap_rule_slot_rule(leakwrap_rule_slot slot)
{
	struct entry *table = atomic_load_explicit(&wide_table, memory_order_acquire);

#if LEAKWRAP_HAVE_INLINE_RULES
	if (!(slot & LEAKWRAP_RULE_WIDE))
		return unpack(slot);
#endif
	return table[slot % ENTRIES].rule;
}

/* -- the cache --------------------------------------------------------------------------------- */

#define FIRST_SLOTS ((uintptr_t)1 << LEAKWRAP_RULE_SLOTS_FIRST)
#define LAST_SLOTS  ((uintptr_t)1 << LEAKWRAP_RULE_SLOTS_LAST)

struct cache {
	_Atomic leakwrap_rule_slot *_Atomic slots; /* LAST_SLOTS; those above the mask are 0 */
	_Atomic unsigned generation;
};

/* The mask of all caches.  It grows. */
static _Atomic uintptr_t index_mask = FIRST_SLOTS - 1;

/* How many rules have been replaced by rules of other addresses since the mask grew. */
static _Atomic uintptr_t replaced;

/* Counts a rule that was replaced.  After a quarter as many as there are slots, doubles the slots
 * of later walks.  A rule that does not stand at its new index is found anew.  The count is stored
 * plainly: a count that is lost between threads does no harm, and not every machine has atomic
 * sums.  But the mask never shrinks: rules above it would not be flushed. */
static void count_replaced(void)
{
	uintptr_t mask = atomic_load_explicit(&index_mask, memory_order_relaxed);
	const uintptr_t count = atomic_load_explicit(&replaced, memory_order_relaxed) + 1;

	if (mask == LAST_SLOTS - 1)
		return;
	atomic_store_explicit(&replaced, count <= mask / 4 ? count : 0, memory_order_relaxed);
	if (count > mask / 4)
		atomic_compare_exchange_strong(&index_mask, &mask, 2 * mask + 1);
}

/* Empties the cache, for the modules of GENERATION.  A walk that began before may still read a
 * stale rule.  That does no harm: only a thread with a frame in the rule's code looks for the rule.
 * Code cannot be unloaded while such a frame exists.  Threads that run the code loaded in its place
 * have seen the new generation. */
static void flush(struct cache *cache, _Atomic leakwrap_rule_slot *slots, unsigned generation)
{
	/* A new cache is empty, and reading it would bring its pages into memory. */
	bool is_new = atomic_load(&cache->generation) == 0;
	uintptr_t last;

	atomic_thread_fence(memory_order_seq_cst); /* see leakwrap_rule_cache_store */
	last = atomic_load_explicit(&index_mask, memory_order_relaxed);
	for (uintptr_t i = 0; i <= last && !is_new; i++)
		if (atomic_load_explicit(&slots[i], memory_order_relaxed) != 0)
			atomic_store_explicit(&slots[i], 0, memory_order_relaxed);
	atomic_store_explicit(&cache->generation, generation, memory_order_release);
}

static _Atomic leakwrap_rule_slot empty_slot;

/* Maps CACHE if it is new, and flushes it if the modules have changed. */
static struct leakwrap_rule_cache prepare(struct cache *cache)
{
	_Atomic leakwrap_rule_slot *slots =
	        map_once((void *_Atomic *)&cache->slots, LAST_SLOTS * sizeof(*slots));
	unsigned generation = leakwrap_modules_generation();

	if (leakwrap_unlikely(!slots))
		return (struct leakwrap_rule_cache){&empty_slot, 0, 0};
	if (leakwrap_unlikely(atomic_load_explicit(&cache->generation, memory_order_acquire) !=
	                      generation))
		flush(cache, slots, generation);
	return (struct leakwrap_rule_cache){
	        slots, atomic_load_explicit(&index_mask, memory_order_relaxed), generation};
}

struct leakwrap_rule_cache leakwrap_rule_cache(void)
{
	static struct cache cache;

	return prepare(&cache);
}

struct leakwrap_rule_cache leakwrap_code_cache(unsigned cache)
{
#ifdef LEAKWRAP_BARE
	(void)cache;
	return (struct leakwrap_rule_cache){&empty_slot, 0, 0};
#else
	static struct cache caches[LEAKWRAP_CODE_CACHES];

	return prepare(&caches[cache]);
#endif
}

/* A walk that guesses may have come to code in which no thread has a frame.  That code may be
 * unloaded before its rule is stored.  Either the flush sees the rule, or the generation here is
 * another.  A rule of the wide table is written before its slot. */
void leakwrap_rule_cache_store(struct leakwrap_rule_cache cache, uintptr_t pc,
                               const struct leakwrap_rule *rule)
{
	_Atomic leakwrap_rule_slot *const place =
	        &cache.slots[LEAKWRAP_RULE_INDEX(pc) & cache.mask];
	leakwrap_rule_slot slot, old;
	uint64_t tag = LEAKWRAP_RULE_TAG(pc);

	if (cache.mask == 0 || tag >> (sizeof(slot) * 8 - LEAKWRAP_RULE_BITS) != 0)
		return;
#if LEAKWRAP_HAVE_INLINE_RULES
	if (!pack(rule, &slot))
#endif
	{
		uint32_t number = intern_rule(rule);

		if (number == ENTRIES)
			return;
		slot = number;
#if LEAKWRAP_HAVE_INLINE_RULES
		slot |= LEAKWRAP_RULE_WIDE;
#endif
	}
	slot |= (leakwrap_rule_slot)tag << LEAKWRAP_RULE_BITS;
	old = atomic_load_explicit(place, memory_order_relaxed);
	if (old != 0 && !leakwrap_rule_slot_is_for(old, pc))
		count_replaced();
	atomic_store_explicit(place, slot, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	if (leakwrap_modules_generation() != cache.generation)
		atomic_store_explicit(place, 0, memory_order_relaxed);
}
