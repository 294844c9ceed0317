/* pattern.c - makes patterns of walks.  Called when a call site is seen for the first time, or in another form. */
#include "pattern.h"

#include "arena.h"

/* What a pattern is made of. */
struct walk {
	const struct leakwrap_notes *notes;
	const uintptr_t *pcs;
	unsigned groups; /* of frames that vary */
	uint16_t frame[LEAKWRAP_VARYING_GROUPS_MAX * LEAKWRAP_VARYING_AT_ONCE];
	bool varies[LEAKWRAP_MAX_DEPTH]; /* each frame */

	/* For each return address the check of the saved frame pointer in front of it, when the two make a pair; or NULL. */
	const struct leakwrap_check *check_of_pair[LEAKWRAP_MAX_DEPTH];
	bool is_in_pair[2 * LEAKWRAP_MAX_DEPTH]; /* each check */
	unsigned pairs, words;                   /* return addresses in pairs, and by themselves */
};

/* The COUNT frames FRAME vary. */
static void group_frames(struct walk *walk, const uint16_t *frame, unsigned count)
{
	walk->groups = (count + LEAKWRAP_VARYING_AT_ONCE - 1) / LEAKWRAP_VARYING_AT_ONCE;
	for (unsigned i = 0; i < walk->groups * LEAKWRAP_VARYING_AT_ONCE; i++) {
		walk->frame[i] = frame[i < count ? i : count - 1];
		walk->varies[walk->frame[i]] = true;
	}
}

static void find_pair(struct walk *walk, unsigned number)
{
	const struct leakwrap_notes *notes = walk->notes;

	for (unsigned i = 0; i < notes->checks; i++) {
		if (notes->check[i].place + 1u != notes->place[number])
			continue;
		walk->check_of_pair[number] = &notes->check[i];
		walk->is_in_pair[i] = true;
		walk->pairs++;
		return;
	}
	walk->words++;
}

/* Makes WALK that of TRACE, in which the COUNT frames FRAME vary. */
static void prepare(struct walk *walk, const struct leakwrap_trace *trace, const uint16_t *frame,
                    unsigned count)
{
	*walk = (struct walk){.notes = trace->notes, .pcs = trace->pcs};
	group_frames(walk, frame, count);
	for (unsigned i = 0; i < walk->notes->returns; i++)
		if (!walk->varies[i + 1])
			find_pair(walk, i);
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
		const struct leakwrap_check *check = walk->check_of_pair[i];
		const uintptr_t pc = walk->pcs[i + 1];

		if (check)
			add_pair(pattern, pairs, pair++, check, pc);
		else if (!walk->varies[i + 1])
			add_word(pattern, words, word++, notes->place[i], pc);
	}
	if (notes->end_place != LEAKWRAP_PLACE_NONE)
		add_word(pattern, words, word, notes->end_place, notes->end_word);
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
		if (!walk->is_in_pair[i])
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
	static struct walk walk;
	unsigned pair_groups, word_groups, check_groups;
	struct leakwrap_pattern *pattern;
	struct leakwrap_pairs *pairs;
	struct leakwrap_words *words, *checks;
	struct leakwrap_varying *varying_at;

	prepare(&walk, trace, frame, varying);
	pair_groups = groups_of(walk.pairs);
	word_groups = groups_of(walk.words + (trace->notes->end_place != LEAKWRAP_PLACE_NONE));
	check_groups = groups_of(trace->notes->checks - walk.pairs);
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
