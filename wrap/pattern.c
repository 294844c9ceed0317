/* pattern.c - makes patterns of walks.  Called when a call site is seen for the first time, or in another form. */
#include "pattern.h"

#include "arena.h"

/* What a pattern is made of. */
struct walk {
	const struct leakwrap_notes *notes;
	const uintptr_t *pcs;
	unsigned groups;
	const uint16_t *frame; /* those that vary: so many groups, full ones */
};

static bool varies(const struct walk *walk, unsigned frame)
{
	for (unsigned i = 0; i < walk->groups * LEAKWRAP_VARYING_AT_ONCE; i++)
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

static bool has_pair(const struct walk *walk, unsigned number)
{
	return check_of_pair(walk, number) != NULL;
}

static bool is_in_pair(const struct walk *walk, const struct leakwrap_check *check)
{
	for (unsigned i = 0; i < walk->notes->returns; i++)
		if (check_of_pair(walk, i) == check)
			return true;
	return false;
}

/* Is the return address NUMBER a word of its own? */
static bool is_word(const struct walk *walk, unsigned number)
{
	return !varies(walk, number + 1) && !check_of_pair(walk, number);
}

static unsigned count_returns(const struct walk *walk,
                              bool (*counts)(const struct walk *walk, unsigned number))
{
	unsigned count = 0;

	for (unsigned i = 0; i < walk->notes->returns; i++)
		count += counts(walk, i);
	return count;
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

static void fill_returns(struct leakwrap_pattern *pattern, const struct walk *walk,
                         struct leakwrap_pairs *pairs, struct leakwrap_words *words)
{
	const struct leakwrap_notes *notes = walk->notes;
	unsigned pair = 0, word = 0;

	for (unsigned i = 0; i < notes->returns; i++) {
		const struct leakwrap_check *check = check_of_pair(walk, i);
		const uintptr_t pc = walk->pcs[i + 1];

		if (check)
			add_pair(pattern, pairs, pair++, check, pc);
		else if (is_word(walk, i))
			add_word(pattern, words, word++, notes->place[i], pc);
	}
	if (notes->end_place != LEAKWRAP_PLACE_NONE)
		add_word(pattern, words, word, notes->end_place, notes->end_word);
}

/* Puts the COUNT frames FRAME into groups, and returns how many these are. */
static unsigned group_frames(const uint16_t *frame, unsigned count, uint16_t *grouped)
{
	const unsigned groups = (count + LEAKWRAP_VARYING_AT_ONCE - 1) / LEAKWRAP_VARYING_AT_ONCE;

	for (unsigned i = 0; i < groups * LEAKWRAP_VARYING_AT_ONCE; i++)
		grouped[i] = frame[i < count ? i : count - 1];
	return groups;
}

static void fill_varying(struct leakwrap_pattern *pattern, const struct walk *walk,
                         struct leakwrap_varying *group)
{
	const uint16_t *frame = walk->frame;

	for (unsigned left = walk->groups; left > 0; left--, group++)
		for (unsigned i = 0; i < LEAKWRAP_VARYING_AT_ONCE; i++, frame++) {
			const uint16_t place = walk->notes->place[*frame - 1];

			group->upper[i] = (uint32_t)((uint64_t)walk->pcs[*frame] >> 32);
			group->place[i] = bytes(place);
			group->frame[i] = *frame;
			reach(pattern, place);
		}
}

static void fill_checks(struct leakwrap_pattern *pattern, const struct walk *walk,
                        struct leakwrap_words *checks)
{
	const struct leakwrap_notes *notes = walk->notes;
	unsigned check = 0;

	for (unsigned i = 0; i < notes->checks; i++)
		if (!is_in_pair(walk, &notes->check[i]))
			add_word(pattern, checks, check++, notes->check[i].place,
			         bytes(notes->check[i].target));
	pattern->fp_target =
	        notes->fp_target == LEAKWRAP_PLACE_NONE ? LEAKWRAP_FP_ANY : bytes(notes->fp_target);
}

/* How many groups COUNT fixed members make. */
static unsigned groups_of(unsigned count)
{
	return (count + LEAKWRAP_FIXED_AT_ONCE - 1) / LEAKWRAP_FIXED_AT_ONCE;
}

struct leakwrap_pattern *leakwrap_pattern_make(const struct leakwrap_trace *trace,
                                               const struct leakwrap_kept *like, const uint16_t *frame,
                                               unsigned varying)
{
	static uint16_t grouped[LEAKWRAP_VARYING_GROUPS_MAX * LEAKWRAP_VARYING_AT_ONCE];
	const struct leakwrap_notes *notes = trace->notes;
	const struct walk walk = {notes, trace->pcs, group_frames(frame, varying, grouped), grouped};
	const bool has_end = notes->end_place != LEAKWRAP_PLACE_NONE;
	const unsigned in_pairs = count_returns(&walk, has_pair);
	const unsigned pair_groups = groups_of(in_pairs);
	const unsigned word_groups = groups_of(count_returns(&walk, is_word) + has_end);
	const unsigned check_groups = groups_of(notes->checks - in_pairs);
	struct leakwrap_pattern *pattern;
	struct leakwrap_pairs *pairs;
	struct leakwrap_words *words, *checks;
	struct leakwrap_varying *varying_at;

	pattern = leakwrap_arena_take(sizeof(*pattern) + pair_groups * sizeof(*pairs) +
	                              word_groups * sizeof(*words) + check_groups * sizeof(*checks) +
	                              walk.groups * sizeof(*varying_at));
	if (!pattern)
		return NULL;
	pairs = (struct leakwrap_pairs *)(pattern + 1);
	words = (struct leakwrap_words *)(pairs + pair_groups);
	checks = words + word_groups;
	varying_at = (struct leakwrap_varying *)(checks + check_groups);
	pattern->like = like;
	pattern->pc = trace->pcs[0];
	pattern->extent = 1; /* a stack without room has no pattern */
	pattern->words = words;
	pattern->checks = checks;
	pattern->varying = varying_at;
	pattern->varying_groups = walk.groups;
	fill_returns(pattern, &walk, pairs, words);
	fill_varying(pattern, &walk, varying_at);
	fill_checks(pattern, &walk, checks);
	return pattern;
}
