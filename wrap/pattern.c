/* pattern.c - makes patterns of walks.  Called when a call site is seen for the first time, or in another form. */
#include "pattern.h"

#include "arena.h"

/* What a pattern is made of. */
struct walk {
	const struct leakwrap_notes *notes;
	const uintptr_t *pcs;
	const uint16_t *frame; /* those that vary */
	unsigned varying;
};

static bool varies(const struct walk *walk, unsigned frame)
{
	for (unsigned i = 0; i < walk->varying; i++)
		if (walk->frame[i] == frame)
			return true;
	return false;
}

/* The check of the saved frame pointer in front of the return address NUMBER, when the two make a pair; or NULL. */
static const struct leakwrap_check *check_of_pair(const struct walk *walk, unsigned number)
{
	const struct leakwrap_notes *notes = walk->notes;

	for (unsigned i = 0; i < notes->checks && !varies(walk, number + 1); i++)
		if (notes->check[i].place + 1u == notes->place[number])
			return &notes->check[i];
	return NULL;
}

static bool is_in_pair(const struct walk *walk, const struct leakwrap_check *check)
{
	for (unsigned i = 0; i < walk->notes->returns; i++)
		if (check_of_pair(walk, i) == check)
			return true;
	return false;
}

static unsigned count_pairs(const struct walk *walk)
{
	unsigned pairs = 0;

	for (unsigned i = 0; i < walk->notes->returns; i++)
		pairs += check_of_pair(walk, i) != NULL;
	return pairs;
}

/* PLACE in bytes. */
static uint32_t bytes(uint16_t place)
{
	return place * (uint32_t)sizeof(uintptr_t);
}

/* The word at PLACE is read. */
static void reach(struct leakwrap_pattern *pattern, uint16_t place)
{
	uint32_t extent = bytes(place) + (uint32_t)sizeof(uintptr_t);

	if (extent > pattern->extent)
		pattern->extent = extent;
}

/* The members of groups are filled in order; each one also takes the place of those behind it, so that the last
 * group is full. */

static void add_pair(struct leakwrap_pattern *pattern, struct leakwrap_pairs *group, unsigned number,
                     const struct leakwrap_check *check, uintptr_t pc)
{
	group += number / LEAKWRAP_FIXED_AT_ONCE;
	for (unsigned i = number % LEAKWRAP_FIXED_AT_ONCE; i < LEAKWRAP_FIXED_AT_ONCE; i++) {
		group->place[i] = bytes(check->place);
		group->image[i][0] = bytes(check->target);
		group->image[i][1] = pc;
	}
	reach(pattern, (uint16_t)(check->place + 1));
}

/* A return address, or a check and its target in bytes. */
static void add_word(struct leakwrap_pattern *pattern, struct leakwrap_words *group, unsigned number,
                     uint16_t place, uintptr_t image)
{
	group += number / LEAKWRAP_FIXED_AT_ONCE;
	for (unsigned i = number % LEAKWRAP_FIXED_AT_ONCE; i < LEAKWRAP_FIXED_AT_ONCE; i++) {
		group->place[i] = bytes(place);
		group->image[i] = image;
	}
	reach(pattern, place);
}

static void add_varying(struct leakwrap_pattern *pattern, struct leakwrap_places *group,
                        unsigned number, uint16_t place)
{
	group += number / LEAKWRAP_VARYING_AT_ONCE;
	for (unsigned i = number % LEAKWRAP_VARYING_AT_ONCE; i < LEAKWRAP_VARYING_AT_ONCE; i++)
		group->place[i] = bytes(place);
	reach(pattern, place);
}

/* The groups OFFSET units behind PATTERN. */
static void *groups_at(struct leakwrap_pattern *pattern, unsigned offset)
{
	return (char *)(pattern + 1) + offset * LEAKWRAP_GROUP_UNIT;
}

static void fill_returns(struct leakwrap_pattern *pattern, const struct walk *walk)
{
	const struct leakwrap_notes *notes = walk->notes;
	struct leakwrap_pairs *pairs = groups_at(pattern, 0);
	struct leakwrap_words *words = groups_at(pattern, pattern->words);
	struct leakwrap_places *varying = groups_at(pattern, pattern->varying);
	unsigned pair = 0, word = 0, varies_at = 0;

	for (unsigned i = 0; i < notes->returns; i++) {
		const struct leakwrap_check *check = check_of_pair(walk, i);

		if (check)
			add_pair(pattern, pairs, pair++, check, walk->pcs[i + 1]);
		else if (varies(walk, i + 1))
			add_varying(pattern, varying, varies_at++, notes->place[i]);
		else
			add_word(pattern, words, word++, notes->place[i], walk->pcs[i + 1]);
	}
	if (notes->end_place != LEAKWRAP_PLACE_NONE)
		add_word(pattern, words, word, notes->end_place, notes->end_word);
}

/* The words at the varying places are like those of the call site that the pattern was made for. */
static void fill_upper(const struct leakwrap_pattern *pattern, struct leakwrap_varying_few *few)
{
	for (unsigned i = 0; i < LEAKWRAP_VARYING_AT_ONCE; i++)
		few->upper.word[i] =
		        pattern->like->pcs[pattern->varying_frame[i]] & ~(uintptr_t)UINT32_MAX;
}

static void fill_checks(struct leakwrap_pattern *pattern, const struct walk *walk)
{
	const struct leakwrap_notes *notes = walk->notes;
	struct leakwrap_words *checks = groups_at(pattern, pattern->checks);
	unsigned check = 0;

	for (unsigned i = 0; i < notes->checks; i++)
		if (!is_in_pair(walk, &notes->check[i]))
			add_word(pattern, checks, check++, notes->check[i].place,
			         bytes(notes->check[i].target));
	pattern->fp_target =
	        notes->fp_target == LEAKWRAP_PLACE_NONE ? LEAKWRAP_FP_ANY : bytes(notes->fp_target);
}

/* What COUNT fixed members take in groups of SIZE bytes. */
static unsigned units(unsigned count, size_t size)
{
	return (count + LEAKWRAP_FIXED_AT_ONCE - 1) / LEAKWRAP_FIXED_AT_ONCE *
	       (unsigned)(size / LEAKWRAP_GROUP_UNIT);
}

struct leakwrap_pattern *leakwrap_pattern_make(const struct leakwrap_notes *notes,
                                               const struct leakwrap_site *site, const uint16_t *frame,
                                               unsigned varying)
{
	const struct walk walk = {notes, site->pcs, frame, varying};
	const unsigned pairs = count_pairs(&walk);
	const unsigned returns = notes->returns - varying - pairs;
	const unsigned words = units(pairs, sizeof(struct leakwrap_pairs));
	const unsigned checks = words + units(returns + (notes->end_place != LEAKWRAP_PLACE_NONE),
	                                      sizeof(struct leakwrap_words));
	const unsigned varying_at =
	        checks + units(notes->checks - pairs, sizeof(struct leakwrap_words));
	const unsigned groups = (varying + LEAKWRAP_VARYING_AT_ONCE - 1) / LEAKWRAP_VARYING_AT_ONCE;
	const size_t varying_size = groups == 1 ? sizeof(struct leakwrap_varying_few)
	                                        : groups * sizeof(struct leakwrap_places);
	const unsigned end = varying_at + (unsigned)(varying_size / LEAKWRAP_GROUP_UNIT);
	const unsigned frames = groups * LEAKWRAP_VARYING_AT_ONCE;
	struct leakwrap_pattern *pattern = leakwrap_arena_take(
	        sizeof(*pattern) + end * LEAKWRAP_GROUP_UNIT + frames * sizeof(frame[0]));
	uint16_t *varying_frame;

	if (!pattern)
		return NULL;
	varying_frame = groups_at(pattern, end);
	for (unsigned i = 0; i < frames; i++)
		varying_frame[i] = frame[i < varying ? i : varying - 1];
	pattern->varying_frame = varying_frame;
	pattern->like = site;
	pattern->pc = site->pcs[0];
	pattern->extent = 1; /* a stack without room has no pattern */
	pattern->number = varying == 0 ? site->number : LEAKWRAP_SITE_NONE;
	pattern->words = (uint16_t)words;
	pattern->checks = (uint16_t)checks;
	pattern->varying = (uint16_t)varying_at;
	pattern->varying_groups = (uint16_t)groups;
	fill_returns(pattern, &walk);
	if (groups == 1)
		fill_upper(pattern, groups_at(pattern, varying_at));
	fill_checks(pattern, &walk);
	return pattern;
}
