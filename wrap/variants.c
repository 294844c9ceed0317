/* variants.c - see variants.h.  All but the looking is called when a stack was not recognized and has been walked. */
#include "variants.h"

#include "arena.h"
#include "port.h"

#include <string.h>

/* Keys collide now and then: so many entries behind those that they choose are for the last ones. */
static uint32_t spare_entries(uint32_t range)
{
	return 4 + range / 16;
}

/* A table this large has pages of its own. */
#define MAPPED_SIZE ((size_t)32 << 10)

/* No table is larger. */
#define RANGE_MAX ((uint32_t)4 * LEAKWRAP_SITE_LIMIT)

/* What a table of COUNT entries needs, never less than one of fewer does.  Looking twice costs as much as missing the processor's
 * cache, so hundreds have much room; of a few there are many tables, and thousands do not fit that cache anyway. */
static uint32_t range_for(uint32_t count)
{
	if (count < 100)
		return count * 8 / 5 + 1;
	if (count < 1000)
		return count * 4;
	return count < 2000 ? 4000 : count * 2;
}

/* What a table that shall grow to COUNT entries and beyond is given.  Outgrown ones stay in memory when they are small. */
static uint32_t range_from(uint32_t count)
{
	return range_for(count < 1000 ? count * 2 : count + count / 2);
}

/* -- entries of both kinds ----------------------------------------------------------------------- */

static bool are_many(const struct leakwrap_pattern *pattern)
{
	return pattern->varying_groups > 1;
}

static size_t size_of_entry(const struct leakwrap_pattern *pattern)
{
	return are_many(pattern) ? sizeof(leakwrap_short_variant) : sizeof(struct leakwrap_variant);
}

/* The number of the call site at entry PLACE in VARIANTS of PATTERN, or LEAKWRAP_SITE_NONE. */
static uint32_t number_at(const struct leakwrap_pattern *pattern,
                          const struct leakwrap_variants *variants, size_t place)
{
	const char *entry = variants->entries + place * size_of_entry(pattern);

	if (are_many(pattern))
		return atomic_load((const leakwrap_short_variant *)entry) % LEAKWRAP_SITE_LIMIT;
	return atomic_load(&((const struct leakwrap_variant *)entry)->number);
}

/* What tells a call site from the others of its pattern. */
struct key {
	uint32_t low[LEAKWRAP_VARYING_AT_ONCE]; /* where one group varies */
	uintptr_t key;
};

/* Two lower halves as leakwrap_low_two tells them. */
static uint64_t two(const uint32_t *low)
{
	return low[0] | (uint64_t)low[1] << 32;
}

static void set_key_of_low(struct key *key)
{
	key->key = leakwrap_key_of_low(two(key->low), two(key->low + 2));
}

static struct key key_of(const struct leakwrap_pattern *pattern, const struct leakwrap_site *site)
{
	const struct leakwrap_varying *varying = pattern->varying;
	struct key key = {.key = 0};
	uintptr_t sum = 0;

	if (!are_many(pattern)) {
		for (unsigned i = 0; i < LEAKWRAP_VARYING_AT_ONCE; i++)
			key.low[i] = site->low[varying->frame[i]];
		set_key_of_low(&key);
		return key;
	}
	for (unsigned i = 0; i < pattern->varying_groups; i++) {
		const uint32_t *low = leakwrap_low_of(site, &varying[i]);

		sum = leakwrap_add_low(sum, two(low), two(low + 2));
	}
	key.key = leakwrap_key_of_sum(sum);
	return key;
}

/* The key of the call site NUMBER, which stands at entry PLACE in VARIANTS of PATTERN. */
static struct key key_at(const struct leakwrap_pattern *pattern,
                         const struct leakwrap_variants *variants, size_t place, uint32_t number)
{
	struct key key;

	if (are_many(pattern))
		return key_of(pattern, leakwrap_site_numbered(number));
	memcpy(key.low, ((const struct leakwrap_variant *)variants->entries)[place].low,
	       sizeof(key.low));
	set_key_of_low(&key);
	return key;
}

/* The entry of many for the call site NUMBER, with KEY. */
static uint32_t of_many(uint32_t number, uintptr_t key)
{
	return number | (uint32_t)key << LEAKWRAP_SITE_BITS;
}

/* Writes entry PLACE, which is empty, for the call site NUMBER. */
static void write_entry(const struct leakwrap_pattern *pattern, struct leakwrap_variants *variants,
                        size_t place, uint32_t number, const struct key *key)
{
	if (are_many(pattern)) {
		atomic_store_explicit((leakwrap_short_variant *)variants->entries + place,
		                      of_many(number, key->key), memory_order_release);
	} else {
		struct leakwrap_variant *entry = (struct leakwrap_variant *)variants->entries + place;

		memcpy(entry->low, key->low, sizeof(entry->low));
		atomic_store_explicit(&entry->number, number, memory_order_release);
	}
	variants->count++;
}

/* -- tables -------------------------------------------------------------------------------------- */

static size_t size_of_table(const struct leakwrap_pattern *pattern, size_t entries)
{
	return sizeof(struct leakwrap_variants) + entries * size_of_entry(pattern);
}

static struct leakwrap_variants *make_table(const struct leakwrap_pattern *pattern, uint32_t range)
{
	const uint32_t entries = range + spare_entries(range);
	const size_t size = size_of_table(pattern, entries);
	struct leakwrap_variants *variants =
	        size < MAPPED_SIZE ? leakwrap_arena_take(size) : leakwrap_pages_map(size);

	if (variants) {
		variants->range = range;
		variants->size = entries;
	}
	return variants;
}

/* Where the call site NUMBER, with KEY, stands in VARIANTS of PATTERN, or an empty entry for it.  False when there is no room. */
static bool find_entry(const struct leakwrap_pattern *pattern, const struct leakwrap_variants *variants,
                       uint32_t number, const struct key *key, size_t *place)
{
	for (*place = leakwrap_variant_chosen(variants, key->key); *place + 1 < variants->size;
	     ++*place) {
		const uint32_t found = number_at(pattern, variants, *place);

		if (found == LEAKWRAP_SITE_NONE || found == number)
			return true;
	}
	return false;
}

/* Puts all call sites of FROM into TO, which is larger.  False when they do not fit. */
static bool copy_entries(const struct leakwrap_pattern *pattern, const struct leakwrap_variants *from,
                         struct leakwrap_variants *to)
{
	for (size_t i = 0; i < from->size; i++) {
		const uint32_t number = number_at(pattern, from, i);
		struct key key;
		size_t place;

		if (number == LEAKWRAP_SITE_NONE)
			continue;
		key = key_at(pattern, from, i, number);
		if (!find_entry(pattern, to, number, &key, &place))
			return false;
		write_entry(pattern, to, place, number, &key);
	}
	return true;
}

/* VARIANTS of PATTERN are not needed any more.  Whoever is still reading them finds what was there, or nothing. */
static void discard(const struct leakwrap_pattern *pattern, struct leakwrap_variants *variants)
{
	const size_t size = size_of_table(pattern, variants->size);

	if (size >= MAPPED_SIZE)
		leakwrap_pages_discard(variants, size);
}

/* Makes the table of PATTERN larger, or the first one.  Returns it, or NULL when there is no memory. */
static struct leakwrap_variants *enlarge(struct leakwrap_pattern *pattern)
{
	struct leakwrap_variants *old = atomic_load(&pattern->variants), *variants;
	uint32_t range = range_from((old ? old->count : 0) + 1);

	do {
		variants = range <= RANGE_MAX ? make_table(pattern, range) : NULL;
		range += range / 2;
	} while (variants && old && !copy_entries(pattern, old, variants));
	if (!variants)
		return NULL;
	atomic_store_explicit(&pattern->variants, variants, memory_order_release);
	if (old)
		discard(pattern, old);
	return variants;
}

bool leakwrap_variant_add(struct leakwrap_pattern *pattern, const struct leakwrap_site *site)
{
	struct leakwrap_variants *variants = atomic_load(&pattern->variants);
	const struct key key = key_of(pattern, site);
	size_t place;

	if (variants && find_entry(pattern, variants, site->number, &key, &place)) {
		if (number_at(pattern, variants, place) == site->number)
			return false;
		if (range_for(variants->count + 1) <= variants->range) {
			write_entry(pattern, variants, place, site->number, &key);
			return true;
		}
	}
	variants = enlarge(pattern);
	if (!variants || !find_entry(pattern, variants, site->number, &key, &place))
		return false;
	write_entry(pattern, variants, place, site->number, &key);
	return true;
}

bool leakwrap_variants_inherit(struct leakwrap_pattern *pattern, const struct leakwrap_pattern *old)
{
	struct leakwrap_variants *from = atomic_load(&old->variants);
	bool all = true;

	if (!from) /* nothing varies in OLD */
		return leakwrap_variant_add(pattern, old->like);
	atomic_store(&pattern->variants, make_table(pattern, range_from(from->count + 1)));
	for (size_t i = 0; i < from->size && all; i++) {
		const uint32_t number = number_at(old, from, i);

		all = number == LEAKWRAP_SITE_NONE ||
		      leakwrap_variant_add(pattern, leakwrap_site_numbered(number));
	}
	if (all)
		discard(old, from);
	return all;
}

/* -- looking ------------------------------------------------------------------------------------- */

uint32_t leakwrap_variant_of_many(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const struct leakwrap_variants *variants =
	        atomic_load_explicit(&pattern->variants, memory_order_acquire);
	const struct leakwrap_varying *varying = pattern->varying;
	const unsigned groups = pattern->varying_groups;
	leakwrap_low low[LEAKWRAP_VARYING_GROUPS_MAX];
	leakwrap_differs over = LEAKWRAP_SAME;
	const leakwrap_short_variant *entry;
	uintptr_t sum = 0, key;

	for (unsigned i = 0; i < groups; i++) {
		low[i] = leakwrap_low_at(sp, varying[i].place, varying[i].upper, &over);
		sum = leakwrap_add_low(sum, leakwrap_low_two(low[i], 0), leakwrap_low_two(low[i], 1));
	}
	key = leakwrap_key_of_sum(sum);
	entry = (const leakwrap_short_variant *)variants->entries +
	        leakwrap_variant_chosen(variants, key);
	for (;; entry++) {
		const uint32_t found = atomic_load_explicit(entry, memory_order_acquire);
		const uint32_t number = found % LEAKWRAP_SITE_LIMIT;
		const struct leakwrap_site *site;
		leakwrap_differs differs = over;

		if (number == LEAKWRAP_SITE_NONE)
			return LEAKWRAP_SITE_NONE;
		if (found != of_many(number, key))
			continue;
		site = leakwrap_site_numbered(number);
		for (unsigned i = 0; i < groups; i++)
			differs |= leakwrap_low_differs(low[i], leakwrap_low_of(site, &varying[i]));
		if (leakwrap_none_differs(differs))
			return number;
	}
}
