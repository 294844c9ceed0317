/* stack_shape.c - makes patterns of walks.  Called when a call site is seen for the first time, or in another form. */
#include "wrap/site/stack_shape.h"

#include "wrap/base/arena.h"
#include "wrap/site/base_backtrace.h"
#include "wrap/module/modules.h"
#include "wrap/unwind/read_set.h"
#include "wrap/base/locked_uthash.h"

#include <stddef.h>
#include <string.h>

/* Patterns are interned: two that are equal are the same object. */
struct interned {
	UT_hash_handle hh;      /* by what follows, from uppers up to the last place */
	uint32_t first;         /* leakwrap_stack_shape_base_site */
	const uint32_t *uppers; /* of the return addresses */
	uint64_t belongs_to;    /* by owners_of */
	struct leakwrap_stack_shape pattern;
};

/* The share of fp in the sum, when the walk used it. */
#define OF_FP UINT64_C(0x9fb21c651e98df25)

#define KEY   offsetof(struct interned, uppers)

/* Patterns are compared as memory. */
_Static_assert(sizeof(struct leakwrap_stack_shape) == 24, "a pattern has no holes");

static struct interned *patterns; /* uthash */

/* A sum of what may be unloaded of the modules that TRACE goes through, in their order: others may come and go.  0: nothing may.  Where
 * that is not clear, it is all that is loaded now. */
static uint64_t owners_of(const struct leakwrap_trace *trace)
{
	const struct leakwrap_read_set *notes = trace->notes;
	const struct leakwrap_module *last = NULL;
	uint64_t sum = 0;

	/* Where the walk came to an end, another module may be loaded. */
	if (notes->end_place != LEAKWRAP_STACK_INDEX_NONE && notes->end_word != 0)
		return (uintptr_t)leakwrap_modules();
	for (unsigned i = 0; i < trace->depth; i++) {
		const struct leakwrap_module *module = leakwrap_module_at(trace->pcs[i] - 1);

		if (!module)
			return (uintptr_t)leakwrap_modules();
		if (module->permanent || module == last)
			continue;
		sum = sum * UINT64_C(0x9e3779b97f4a7c15) + (uintptr_t)module;
		last = module;
	}
	return sum;
}

/* -- what a walk read ------------------------------------------------------------------------------ */

#define WORDS_MAX (3 * LEAKWRAP_MAX_DEPTH + LEAKWRAP_STACK_HASH_GROUP)

/* A word, and its share in what sp adds to the sum: a link's is 1, that of another 0. */
struct word {
	uintptr_t value, of_sp;
};

/* In groups that are summed at once: the last one is filled up. */
struct words {
	unsigned count;
	uint16_t place[WORDS_MAX]; /* of each */
	struct word word[WORDS_MAX];
};

static void add_word(struct words *words, uint16_t place, uintptr_t value, uintptr_t of_sp)
{
	words->place[words->count] = place;
	words->word[words->count++] = (struct word){value, of_sp};
}

/* PLACE in bytes. */
static uint32_t bytes(uint32_t place)
{
	return place * (uint32_t)sizeof(uintptr_t);
}

/* Those that the walk has read which led to TRACE: return addresses, the word at the end, links. */
static void read_words(struct words *words, const struct leakwrap_trace *trace)
{
	const struct leakwrap_read_set *notes = trace->notes;

	words->count = 0;
	for (unsigned i = 0; i < notes->returns; i++)
		add_word(words, notes->place[i], trace->pcs[i + 1], 0);
	if (notes->end_place != LEAKWRAP_STACK_INDEX_NONE)
		add_word(words, notes->end_place, notes->end_word, 0);
	for (unsigned i = 0; i < notes->checks; i++)
		add_word(words, notes->check[i].place, notes->sp + bytes(notes->check[i].target), 1);
	while (words->count % LEAKWRAP_STACK_HASH_GROUP != 0) {
		const unsigned last = words->count - 1;

		add_word(words, words->place[last], words->word[last].value, words->word[last].of_sp);
	}
}

static uint64_t of_sp(const struct words *words)
{
	const struct word *word = words->word, *const end = word + words->count;
	struct leakwrap_stack_hash sum = {.a = 0};

	for (; word != end; word += LEAKWRAP_STACK_HASH_GROUP)
		sum = leakwrap_stack_hash_accumulate(sum, word[0].of_sp, word[1].of_sp, word[2].of_sp,
		                                     word[3].of_sp);
	return leakwrap_stack_hash_combine(sum);
}

/* What leakwrap_stack_shape_key finds for the stack with these words, whose walk led to TRACE. */
static uint64_t key(const struct words *words, const struct leakwrap_stack_shape *pattern,
                    const struct leakwrap_trace *trace)
{
	const struct leakwrap_read_set *notes = trace->notes;
	const struct word *word = words->word, *const end = word + words->count;
	struct leakwrap_stack_hash sum = leakwrap_stack_shape_start(
	        trace->pcs[0], word[0].value, word[1].value, word[2].value, word[3].value);

	while ((word += LEAKWRAP_STACK_HASH_GROUP) != end)
		sum = leakwrap_stack_hash_accumulate(sum, word[0].value, word[1].value, word[2].value,
		                                     word[3].value);
	return leakwrap_stack_shape_end(pattern, sum, notes->sp, notes->sp + bytes(notes->fp_target));
}

static uint32_t extent_of(const struct words *words)
{
	uint32_t extent = 1; /* a stack without room has no pattern */

	for (unsigned i = 0; i < words->count; i++)
		if (extent < bytes(words->place[i] + 1u))
			extent = bytes(words->place[i] + 1u);
	return extent;
}

/* -- patterns ------------------------------------------------------------------------------------ */

/* The pattern that is equal to WANTED, whose places take PLACES bytes behind it; or NULL: there is no memory. */
static struct leakwrap_stack_shape *interned(const struct interned *wanted, size_t places)
{
	const size_t size = sizeof(*wanted) + places;
	struct interned *found;

	HASH_FIND(hh, patterns, (const char *)wanted + KEY, size - KEY, found);
	if (found)
		return &found->pattern;
	found = leakwrap_arena_take(size);
	if (!found)
		return NULL;
	memcpy(found, wanted, size);
	leakwrap_tables_failed = false;
	HASH_ADD(hh, patterns, uppers, size - KEY, found);
	return leakwrap_tables_failed ? NULL : &found->pattern;
}

struct leakwrap_stack_shape *leakwrap_stack_shape_intern(const struct leakwrap_trace *trace,
                                                         uint64_t *key_of_stack)
{
	/* uthash needs a pattern in memory before it can be looked up. */
	static struct {
		struct interned it;
		uint16_t place[WORDS_MAX];
	} wanted;
	static struct words words;
	const struct leakwrap_read_set *notes = trace->notes;
	const uint64_t of_fp = notes->fp_target == LEAKWRAP_STACK_INDEX_NONE ? 0 : OF_FP;
	struct leakwrap_stack_shape *pattern;
	size_t places;

	read_words(&words, trace);
	if (words.count == 0 || !leakwrap_high_halves_intern(trace, false, &wanted.it.uppers))
		return NULL;
	wanted.it.belongs_to = owners_of(trace);
	wanted.it.pattern = (struct leakwrap_stack_shape){
	        .of_sp = of_sp(&words) + of_fp,
	        .of_fp = of_fp,
	        .extent = extent_of(&words),
	        .places = (uint16_t)words.count,
	        .returns = (uint8_t)notes->returns,
	        .kind = (uint8_t)trace->kind,
	};
	places = words.count * sizeof(words.place[0]);
	memcpy(wanted.place, words.place, places);
	pattern = interned(&wanted.it, places);
	if (pattern)
		*key_of_stack = key(&words, pattern, trace);
	return pattern;
}

static struct interned *interned_of(const struct leakwrap_stack_shape *pattern)
{
	return (struct interned *)((uintptr_t)pattern - offsetof(struct interned, pattern));
}

bool leakwrap_stack_shape_is_permanent(const struct leakwrap_stack_shape *pattern)
{
	return interned_of(pattern)->belongs_to == 0;
}

uint32_t *leakwrap_stack_shape_base_site(struct leakwrap_stack_shape *pattern)
{
	return &interned_of(pattern)->first;
}
