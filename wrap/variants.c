/* variants.c - see variants.h.  All but the looking is called when a stack was not recognized and has been walked. */
#include "variants.h"

#include "arena.h"
#include "port.h"

#include <string.h>

/* Keys collide now and then: so many entries behind those that they choose are for the last ones. */
#define SPARE_ENTRIES(bits) (4 + ((size_t)1 << (bits)) / 16)

/* A table this large has pages of its own. */
#define MAPPED_SIZE ((size_t)32 << 10)

/* No table is larger. */
#define ENTRIES_BITS_MAX 24

/* At most five eighths of the entries that keys choose are used.  Hundreds get more room, since looking twice costs as much as
 * missing the processor's cache; of a few there are many tables, and thousands do not fit that cache anyway. */
static bool are_hundreds(size_t count)
{
	return count >= 100 && count < 2000;
}

static unsigned bits_for(size_t count)
{
	const size_t eighths = are_hundreds(count) ? 3 : 5;
	unsigned bits = 1;

	while (count * 8 > eighths << bits)
		bits++;
	return bits;
}

/* -- entries of both kinds ----------------------------------------------------------------------- */

static bool are_many(const struct leakwrap_pattern *pattern)
{
	return pattern->varying_groups > 1;
}

static size_t size_of_entry(const struct leakwrap_pattern *pattern)
{
	return are_many(pattern) ? sizeof(struct leakwrap_variant_of_many)
	                         : sizeof(struct leakwrap_variant);
}

/* The call site of entry NUMBER in VARIANTS of PATTERN, or NULL when it is not used. */
static const struct leakwrap_site *site_in(const struct leakwrap_pattern *pattern,
                                           const struct leakwrap_variants *variants, size_t number)
{
	const char *entry = variants->entries + number * size_of_entry(pattern);

	return are_many(pattern) ? atomic_load(&((const struct leakwrap_variant_of_many *)entry)->site)
	                         : ((const struct leakwrap_variant *)entry)->site;
}

/* What tells a call site from the others of its pattern. */
struct key {
	struct leakwrap_low low; /* where few places vary */
	uintptr_t sum;
};

static struct leakwrap_four varying_four(const struct leakwrap_pattern *pattern,
                                         const struct leakwrap_site *site, unsigned group)
{
	const uint16_t *frame = pattern->varying_frame + (size_t)group * LEAKWRAP_VARYING_AT_ONCE;

	return (struct leakwrap_four){
	        {site->pcs[frame[0]], site->pcs[frame[1]], site->pcs[frame[2]], site->pcs[frame[3]]}};
}

/* False when SITE cannot be one of PATTERN. */
static bool key_of(const struct leakwrap_pattern *pattern, const struct leakwrap_site *site,
                   struct key *key)
{
	const struct leakwrap_varying_few *few = leakwrap_pattern_varying(pattern);

	*key = (struct key){.sum = 0};
	if (are_many(pattern)) {
		for (unsigned i = 0; i < pattern->varying_groups; i++)
			key->sum = leakwrap_add_four(key->sum, varying_four(pattern, site, i));
	} else {
		key->low = leakwrap_low_of(varying_four(pattern, site, 0), &few->upper);
		key->sum = leakwrap_sum_of_low(&key->low);
	}
	return key->low.over == 0;
}

/* Writes entry NUMBER, which is empty. */
static void write_entry(const struct leakwrap_pattern *pattern, struct leakwrap_variants *variants,
                        size_t number, const struct leakwrap_site *site, const struct key *key)
{
	if (are_many(pattern)) {
		struct leakwrap_variant_of_many *entry =
		        (struct leakwrap_variant_of_many *)variants->entries + number;

		entry->sum = key->sum;
		atomic_store_explicit(&entry->site, site, memory_order_release);
	} else {
		struct leakwrap_variant *entry = (struct leakwrap_variant *)variants->entries + number;

		entry->site = site;
		memcpy(entry->low, key->low.two, sizeof(entry->low));
		atomic_store_explicit(&entry->number, site->number, memory_order_release);
	}
	variants->count++;
}

/* -- tables -------------------------------------------------------------------------------------- */

static size_t size_of_table(const struct leakwrap_pattern *pattern, size_t entries)
{
	return sizeof(struct leakwrap_variants) + entries * size_of_entry(pattern);
}

static struct leakwrap_variants *make_table(const struct leakwrap_pattern *pattern, unsigned bits)
{
	const size_t entries = ((size_t)1 << bits) + SPARE_ENTRIES(bits);
	const size_t size = size_of_table(pattern, entries);
	struct leakwrap_variants *variants =
	        size < MAPPED_SIZE ? leakwrap_arena_take(size) : leakwrap_pages_map(size);

	if (variants) {
		variants->shift = (uint32_t)(8 * sizeof(uintptr_t)) - bits;
		variants->size = (uint32_t)entries;
	}
	return variants;
}

/* Where SITE, with KEY, stands in VARIANTS of PATTERN, or an empty entry for it.  False when there is no room. */
static bool find_entry(const struct leakwrap_pattern *pattern, const struct leakwrap_variants *variants,
                       const struct leakwrap_site *site, const struct key *key, size_t *number)
{
	for (*number = leakwrap_variant_of_sum(variants, key->sum); *number + 1 < variants->size;
	     ++*number) {
		const struct leakwrap_site *found = site_in(pattern, variants, *number);

		if (!found || found == site)
			return true;
	}
	return false;
}

/* Puts all call sites of FROM into TO, which is larger.  False when they do not fit. */
static bool copy_entries(const struct leakwrap_pattern *pattern, const struct leakwrap_variants *from,
                         struct leakwrap_variants *to)
{
	struct key key;
	size_t number;

	for (size_t i = 0; i < from->size; i++) {
		const struct leakwrap_site *site = site_in(pattern, from, i);

		if (!site)
			continue;
		if (!key_of(pattern, site, &key) || !find_entry(pattern, to, site, &key, &number))
			return false;
		write_entry(pattern, to, number, site, &key);
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
	unsigned bits = bits_for((old ? old->count : 0) + 1);

	do
		variants = bits <= ENTRIES_BITS_MAX ? make_table(pattern, bits++) : NULL;
	while (variants && old && !copy_entries(pattern, old, variants));
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
	struct key key;
	size_t number;

	if (!key_of(pattern, site, &key))
		return false;
	if (variants && find_entry(pattern, variants, site, &key, &number)) {
		if (site_in(pattern, variants, number))
			return false;
		if (bits_for(variants->count + 1) <= 8 * sizeof(uintptr_t) - variants->shift) {
			write_entry(pattern, variants, number, site, &key);
			return true;
		}
	}
	variants = enlarge(pattern);
	if (!variants || !find_entry(pattern, variants, site, &key, &number))
		return false;
	write_entry(pattern, variants, number, site, &key);
	return true;
}

bool leakwrap_variants_inherit(struct leakwrap_pattern *pattern, const struct leakwrap_pattern *old)
{
	struct leakwrap_variants *from = atomic_load(&old->variants);
	bool all = true;

	if (!from) /* nothing varies in OLD */
		return leakwrap_variant_add(pattern, old->like);
	atomic_store(&pattern->variants, make_table(pattern, bits_for(from->count + 1)));
	for (size_t i = 0; i < from->size && all; i++) {
		const struct leakwrap_site *site = site_in(old, from, i);

		all = !site || leakwrap_variant_add(pattern, site);
	}
	if (all)
		discard(old, from);
	return all;
}

/* -- looking ------------------------------------------------------------------------------------- */

/* How the words at the varying places of the stack at SP differ from the return addresses of SITE. */
static uintptr_t words_differ(const struct leakwrap_pattern *pattern, const struct leakwrap_site *site,
                              uintptr_t sp)
{
	const struct leakwrap_places *varying = leakwrap_pattern_varying(pattern);
	const uint16_t *frame = pattern->varying_frame;
	uintptr_t differs = 0;

	for (unsigned i = 0; i < pattern->varying_groups; i++, frame += LEAKWRAP_VARYING_AT_ONCE) {
		const struct leakwrap_four four = leakwrap_four_at(sp, &varying[i]);

		differs |= (four.word[0] ^ site->pcs[frame[0]]) | (four.word[1] ^ site->pcs[frame[1]]) |
		           (four.word[2] ^ site->pcs[frame[2]]) | (four.word[3] ^ site->pcs[frame[3]]);
	}
	return differs;
}

uint32_t leakwrap_variant_of_many(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const struct leakwrap_variants *variants =
	        atomic_load_explicit(&pattern->variants, memory_order_acquire);
	const struct leakwrap_places *varying = leakwrap_pattern_varying(pattern);
	const struct leakwrap_variant_of_many *entry;
	uintptr_t sum = 0;

	for (unsigned i = 0; i < pattern->varying_groups; i++)
		sum = leakwrap_add_four(sum, leakwrap_four_at(sp, &varying[i]));
	entry = (const struct leakwrap_variant_of_many *)variants->entries +
	        leakwrap_variant_of_sum(variants, sum);
	for (;; entry++) {
		const struct leakwrap_site *site =
		        atomic_load_explicit(&entry->site, memory_order_acquire);

		if (!site)
			return LEAKWRAP_SITE_NONE;
		if (entry->sum == sum && words_differ(pattern, site, sp) == 0)
			return site->number;
	}
}
