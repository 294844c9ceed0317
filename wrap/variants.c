/* variants.c - see variants.h.  Called when a stack was not recognized and has been walked. */
#include "variants.h"

#include "arena.h"
#include "port.h"

#include <string.h>

/* Keys collide now and then: so many entries behind those that they choose are for the last ones. */
#define SPARE_ENTRIES(bits) (4 + ((size_t)1 << (bits)) / 16)

/* A table this large has pages of its own. */
#define MAPPED_ENTRIES 1024

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

static struct leakwrap_variants *make_variants(unsigned bits)
{
	const size_t size = ((size_t)1 << bits) + SPARE_ENTRIES(bits);
	const size_t bytes = sizeof(struct leakwrap_variants) + size * sizeof(struct leakwrap_variant);
	struct leakwrap_variants *variants =
	        size < MAPPED_ENTRIES ? leakwrap_arena_take(bytes) : leakwrap_pages_map(bytes);

	if (variants) {
		variants->shift = (uint32_t)(8 * sizeof(uintptr_t)) - bits;
		variants->size = (uint32_t)size;
	}
	return variants;
}

#define OTHERS(words) (((words)->count - LEAKWRAP_VARYING_AT_ONCE) * sizeof((words)->word[0]))

static bool has_others(const struct leakwrap_words_varying *words)
{
	return words->count > LEAKWRAP_VARYING_AT_ONCE;
}

/* Is ENTRY, which is used, the one with WORDS? */
static bool is_entry_of(const struct leakwrap_variant *entry,
                        const struct leakwrap_words_varying *words)
{
	const struct leakwrap_variant_others *others = (const void *)atomic_load(&entry->what);

	return memcmp(entry->word, words->word, sizeof(entry->word)) == 0 &&
	       (!has_others(words) ||
	        memcmp(others->word, words->word + LEAKWRAP_VARYING_AT_ONCE, OTHERS(words)) == 0);
}

/* Fills WORDS, whose count is set, with those of ENTRY, which is used.  Returns its number. */
static uintptr_t read_entry(const struct leakwrap_variant *entry, struct leakwrap_words_varying *words)
{
	const uintptr_t what = atomic_load(&entry->what);
	const struct leakwrap_variant_others *others = (const void *)what;

	memcpy(words->word, entry->word, sizeof(entry->word));
	if (!has_others(words))
		return what;
	memcpy(words->word + LEAKWRAP_VARYING_AT_ONCE, others->word, OTHERS(words));
	return others->number;
}

/* The entry of stacks with WORDS: empty if there is none yet.  NULL when there is no room for it. */
static struct leakwrap_variant *find_entry(struct leakwrap_variants *variants,
                                           const struct leakwrap_words_varying *words)
{
	uintptr_t sum = 0;

	for (unsigned i = 0; i < words->count; i += LEAKWRAP_VARYING_AT_ONCE)
		sum = leakwrap_add_four(
		        sum, (struct leakwrap_four){{words->word[i], words->word[i + 1],
		                                     words->word[i + 2], words->word[i + 3]}});
	for (size_t i = leakwrap_variant_of_sum(variants, sum); i + 1 < variants->size; i++) {
		struct leakwrap_variant *entry = &variants->entry[i];

		if (atomic_load(&entry->what) == 0 || is_entry_of(entry, words))
			return entry;
	}
	return NULL;
}

static bool put_entry(struct leakwrap_variants *variants, const struct leakwrap_words_varying *words,
                      uintptr_t what)
{
	struct leakwrap_variant *entry = find_entry(variants, words);

	if (!entry)
		return false;
	memcpy(entry->word, words->word, sizeof(entry->word));
	atomic_store_explicit(&entry->what, what, memory_order_release);
	variants->count++;
	return true;
}

/* A table with those of FROM (NULL: none), each with COUNT words, and room for one more; or NULL when there is no
 * memory. */
static struct leakwrap_variants *enlarge(const struct leakwrap_variants *from, unsigned count)
{
	static struct leakwrap_words_varying words;
	unsigned bits = bits_for((from ? from->count : 0) + 1);
	struct leakwrap_variants *variants;
	bool all;

	words.count = count;
	do {
		variants = bits <= ENTRIES_BITS_MAX ? make_variants(bits++) : NULL;
		all = true;
		for (size_t i = 0; variants && from && i < from->size && all; i++) {
			const struct leakwrap_variant *entry = &from->entry[i];
			uintptr_t what = atomic_load(&entry->what);

			if (what == 0)
				continue;
			read_entry(entry, &words);
			all = put_entry(variants, &words, what);
		}
	} while (variants && !all);
	return variants;
}

/* What the entry of WORDS shall hold; 0 when there is no memory. */
static uintptr_t what_of(const struct leakwrap_words_varying *words, uintptr_t number)
{
	struct leakwrap_variant_others *others;

	if (!has_others(words))
		return number;
	others = leakwrap_arena_take(sizeof(*others) + OTHERS(words));
	if (!others)
		return 0;
	others->number = number;
	memcpy(others->word, words->word + LEAKWRAP_VARYING_AT_ONCE, OTHERS(words));
	return (uintptr_t)others;
}

bool leakwrap_variant_add(struct leakwrap_pattern *pattern, const struct leakwrap_words_varying *words,
                          uintptr_t number)
{
	struct leakwrap_variants *variants = atomic_load(&pattern->variants);
	const struct leakwrap_variant *entry = variants ? find_entry(variants, words) : NULL;
	uintptr_t what;

	if (entry && atomic_load(&entry->what) != 0)
		return false;
	if (!entry || bits_for(variants->count + 1) > 8 * sizeof(uintptr_t) - variants->shift) {
		variants = enlarge(variants, words->count);
		if (!variants)
			return false;
		atomic_store_explicit(&pattern->variants, variants, memory_order_release);
	}
	what = what_of(words, number);
	return what != 0 && put_entry(variants, words, what);
}

/* The words that a call site of OLD, which has KNOWN where OLD varies, has where the wider PATTERN does. */
static const struct leakwrap_words_varying *widened(const struct leakwrap_pattern *pattern,
                                                    const struct leakwrap_pattern *old,
                                                    const uintptr_t *known)
{
	static struct leakwrap_words_varying words;
	const unsigned old_varying = leakwrap_pattern_varying_count(old);
	unsigned j = 0;

	words.count = leakwrap_pattern_varying_count(pattern);
	for (unsigned i = 0; i < words.count; i++) {
		unsigned frame = pattern->varying_frame[i];

		while (j < old_varying && old->varying_frame[j] < frame)
			j++;
		words.word[i] = j < old_varying && old->varying_frame[j] == frame
		                        ? known[j]
		                        : old->like->pcs[frame];
	}
	return &words;
}

bool leakwrap_variants_inherit(struct leakwrap_pattern *pattern, const struct leakwrap_pattern *old)
{
	static struct leakwrap_words_varying known;
	const struct leakwrap_variants *from = atomic_load(&old->variants);
	bool all = true;

	atomic_store(&pattern->variants, make_variants(bits_for((from ? from->count : 1) + 1)));
	if (!from) /* nothing varies in OLD */
		return leakwrap_variant_add(pattern, widened(pattern, old, known.word), old->number);
	known.count = leakwrap_pattern_varying_count(old);
	for (size_t i = 0; i < from->size && all; i++) {
		uintptr_t number;

		if (atomic_load(&from->entry[i].what) == 0)
			continue;
		number = read_entry(&from->entry[i], &known);
		all = leakwrap_variant_add(pattern, widened(pattern, old, known.word), number);
	}
	return all;
}

uint32_t leakwrap_variant_of_many(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	return leakwrap_variant_among(pattern, pattern->varying_groups, sp);
}
