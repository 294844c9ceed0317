/* variants.c - see variants.h.  All but the looking is called when a stack was not recognized and has been walked. */
#include "variants.h"

#include "arena.h"

#include <string.h>

static bool are_many(const struct leakwrap_pattern *pattern)
{
	return pattern->varying_groups > 1;
}

/* How many lower halves a variant of PATTERN has. */
static unsigned width(const struct leakwrap_pattern *pattern)
{
	return pattern->varying_groups * LEAKWRAP_VARYING_AT_ONCE;
}

/* -- what tells a call site from the others of its pattern ------------------------------------------ */

/* The lower halves of those return addresses of PCS that vary in PATTERN. */
static void gather(const struct leakwrap_pattern *pattern, const uintptr_t *pcs, uint32_t *low)
{
	for (unsigned i = 0; i < width(pattern); i++)
		low[i] = (uint32_t)pcs[pattern->varying[i / LEAKWRAP_VARYING_AT_ONCE]
		                               .frame[i % LEAKWRAP_VARYING_AT_ONCE]];
}

const uint32_t *leakwrap_variant_low(const struct leakwrap_site *site)
{
	return are_many(site->pattern) ? site->variant->low : site->low;
}

/* Two lower halves as leakwrap_low_two tells them. */
static uint64_t two(const uint32_t *low)
{
	return low[0] | (uint64_t)low[1] << 32;
}

/* The key of the lower halves LOW in PATTERN. */
static uintptr_t key_of(const struct leakwrap_pattern *pattern, const uint32_t *low)
{
	uintptr_t sum = 0;

	if (!are_many(pattern))
		return leakwrap_key_of_low(two(low), two(low + 2));
	for (unsigned i = 0; i < width(pattern); i += LEAKWRAP_VARYING_AT_ONCE)
		sum = leakwrap_add_low(sum, two(low + i), two(low + i + 2));
	return leakwrap_hashed_key(sum);
}

/* A variant of PATTERN where many places vary, or NULL when there is no memory. */
static const struct leakwrap_long_variant *make_variant(const struct leakwrap_pattern *pattern,
                                                        uint32_t number, const uintptr_t *pcs)
{
	struct leakwrap_long_variant *variant =
	        leakwrap_arena_take(sizeof(*variant) + width(pattern) * sizeof(variant->low[0]));

	if (!variant || ((uintptr_t)variant & LEAKWRAP_VARIANT_KEY_BITS))
		return NULL;
	variant->number = number;
	gather(pattern, pcs, variant->low);
	return variant;
}

bool leakwrap_variant_express(struct leakwrap_site *site, uint32_t number,
                              const struct leakwrap_pattern *pattern, const uintptr_t *pcs)
{
	site->pattern = pattern;
	if (are_many(pattern)) {
		site->variant = make_variant(pattern, number, pcs);
		return site->variant != NULL;
	}
	gather(pattern, pcs, site->low);
	return true;
}

/* -- entries of both kinds ----------------------------------------------------------------------- */

static bool is_used_short(const void *entry)
{
	return atomic_load(&((const struct leakwrap_short_variant *)entry)->number) !=
	       LEAKWRAP_SITE_NONE;
}

static uintptr_t key_of_short(const void *entry, const void *pattern)
{
	return key_of(pattern, ((const struct leakwrap_short_variant *)entry)->low);
}

static const struct leakwrap_hashed_kind short_entries = {
        .size = sizeof(struct leakwrap_short_variant),
        .is_used = is_used_short,
        .key = key_of_short,
};

static bool is_used_long(const void *entry)
{
	return atomic_load((const leakwrap_long_variant_entry *)entry) != 0;
}

/* What ENTRY points to. */
static const struct leakwrap_long_variant *variant_at(uintptr_t entry)
{
	return (const struct leakwrap_long_variant *)(entry & ~LEAKWRAP_VARIANT_KEY_BITS);
}

static uintptr_t key_of_long(const void *entry, const void *pattern)
{
	return key_of(pattern,
	              variant_at(atomic_load((const leakwrap_long_variant_entry *)entry))->low);
}

static const struct leakwrap_hashed_kind long_entries = {
        .size = sizeof(leakwrap_long_variant_entry),
        .is_used = is_used_long,
        .key = key_of_long,
};

static const struct leakwrap_hashed_kind *kind_of(const struct leakwrap_pattern *pattern)
{
	return are_many(pattern) ? &long_entries : &short_entries;
}

/* The number of the call site at ENTRY, which is used, in the table of PATTERN. */
static uint32_t number_at(const struct leakwrap_pattern *pattern, const void *entry)
{
	if (are_many(pattern))
		return variant_at(atomic_load((const leakwrap_long_variant_entry *)entry))->number;
	return atomic_load(&((const struct leakwrap_short_variant *)entry)->number);
}

/* -- adding -------------------------------------------------------------------------------------- */

/* Is the call site NUMBER, with KEY, among the variants of PATTERN? */
static bool is_variant(const struct leakwrap_pattern *pattern, uint32_t number, uintptr_t key)
{
	const struct leakwrap_hashed *variants = atomic_load(&pattern->variants);
	const struct leakwrap_hashed_kind *kind = kind_of(pattern);
	const char *entry;

	if (!variants)
		return false;
	entry = variants->entries + leakwrap_hashed_chosen(variants, key) * kind->size;
	for (; kind->is_used(entry); entry += kind->size)
		if (number_at(pattern, entry) == number)
			return true;
	return false;
}

static bool add_few(struct leakwrap_pattern *pattern, uint32_t number, const uint32_t *low,
                    uintptr_t key)
{
	struct leakwrap_short_variant *entry =
	        leakwrap_hashed_room(&pattern->variants, &short_entries, pattern, key);

	if (!entry)
		return false;
	memcpy(entry->low, low, sizeof(entry->low));
	atomic_store_explicit(&entry->number, number, memory_order_release);
	return true;
}

static bool add_many(struct leakwrap_pattern *pattern, uint32_t number, const uintptr_t *pcs,
                     uintptr_t key)
{
	const struct leakwrap_site *site = leakwrap_site_numbered(number);
	const struct leakwrap_long_variant *variant =
	        site->pattern == pattern ? site->variant : make_variant(pattern, number, pcs);
	leakwrap_long_variant_entry *entry =
	        variant ? leakwrap_hashed_room(&pattern->variants, &long_entries, pattern, key) : NULL;

	if (!entry)
		return false;
	atomic_store_explicit(entry, (uintptr_t)variant | LEAKWRAP_VARIANT_KEY_PART(key),
	                      memory_order_release);
	return true;
}

bool leakwrap_variant_add(struct leakwrap_pattern *pattern, uint32_t number, const uintptr_t *pcs)
{
	static uint32_t low[LEAKWRAP_MAX_DEPTH];
	uintptr_t key;

	gather(pattern, pcs, low);
	key = key_of(pattern, low);
	if (is_variant(pattern, number, key))
		return false;
	return are_many(pattern) ? add_many(pattern, number, pcs, key)
	                         : add_few(pattern, number, low, key);
}

struct inheritance {
	struct leakwrap_pattern *pattern;
	const struct leakwrap_pattern *old;
};

static bool inherit_site(struct leakwrap_pattern *pattern, uint32_t number)
{
	static uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};

	leakwrap_site_read(number, &trace);
	return leakwrap_variant_add(pattern, number, pcs);
}

static bool inherit_entry(const void *entry, void *context)
{
	const struct inheritance *inheritance = context;

	return inherit_site(inheritance->pattern, number_at(inheritance->old, entry));
}

bool leakwrap_variants_inherit(struct leakwrap_pattern *pattern, const struct leakwrap_pattern *old)
{
	struct leakwrap_hashed *variants = atomic_load(&old->variants);
	struct inheritance inheritance = {pattern, old};

	if (!variants) /* nothing varies in OLD */
		return inherit_site(pattern, old->number);
	atomic_store(&pattern->variants, leakwrap_hashed_make(kind_of(pattern), variants->count + 1));
	if (!leakwrap_hashed_each(variants, kind_of(old), inherit_entry, &inheritance))
		return false;
	leakwrap_hashed_discard(variants, kind_of(old));
	return true;
}

/* -- looking ------------------------------------------------------------------------------------- */

uint32_t leakwrap_variant_of_many(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const struct leakwrap_hashed *variants =
	        atomic_load_explicit(&pattern->variants, memory_order_acquire);
	const struct leakwrap_varying *varying = pattern->varying;
	const unsigned groups = pattern->varying_groups;
	leakwrap_low low[LEAKWRAP_VARYING_GROUPS_MAX];
	leakwrap_differs over = LEAKWRAP_SAME;
	const leakwrap_long_variant_entry *entry;
	uintptr_t sum = 0, key;

	for (unsigned i = 0; i < groups; i++) {
		low[i] = leakwrap_low_at(sp, varying[i].place, varying[i].upper, &over);
		sum = leakwrap_add_low(sum, leakwrap_low_two(low[i], 0), leakwrap_low_two(low[i], 1));
	}
	key = leakwrap_hashed_key(sum);
	entry = (const leakwrap_long_variant_entry *)variants->entries +
	        leakwrap_hashed_chosen(variants, key);
	for (;; entry++) {
		const uintptr_t found = atomic_load_explicit(entry, memory_order_acquire);
		const struct leakwrap_long_variant *variant = variant_at(found);
		leakwrap_differs differs = over;

		if (found == 0)
			return LEAKWRAP_SITE_NONE;
		if ((found ^ LEAKWRAP_VARIANT_KEY_PART(key)) & LEAKWRAP_VARIANT_KEY_BITS)
			continue;
		for (size_t i = 0; i < groups; i++)
			differs |= leakwrap_low_differs(low[i],
			                                &variant->low[i * LEAKWRAP_VARYING_AT_ONCE]);
		if (leakwrap_none_differs(differs))
			return variant->number;
	}
}
