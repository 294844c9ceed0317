/* pattern.c - makes patterns of walks.  Called when a call site is seen for the first time, or in another form. */
#include "pattern.h"

#include "arena.h"

/* What a pattern is made of. */
struct walk {
	const struct leakwrap_notes *notes;
	const struct leakwrap_site *site;
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

static void fill_returns(struct leakwrap_pattern *pattern, const struct walk *walk,
                         struct leakwrap_pairs *pairs, struct leakwrap_words *words)
{
	const struct leakwrap_notes *notes = walk->notes;
	unsigned pair = 0, word = 0;

	for (unsigned i = 0; i < notes->returns; i++) {
		const struct leakwrap_check *check = check_of_pair(walk, i);
		const uintptr_t pc = leakwrap_site_pc(walk->site, i + 1);

		if (check)
			add_pair(pattern, pairs, pair++, check, pc);
		else if (!varies(walk, i + 1))
			add_word(pattern, words, word++, notes->place[i], pc);
	}
	if (notes->end_place != LEAKWRAP_PLACE_NONE)
		add_word(pattern, words, word, notes->end_place, notes->end_word);
}

/* Brings the COUNT frames whose return addresses have the same upper halves together. */
static void sort_by_upper(const struct leakwrap_site *site, uint16_t *frame, unsigned count)
{
	for (unsigned i = 1; i < count; i++) {
		const uint16_t moved = frame[i];
		unsigned to = i;

		for (; to > 0 &&
		       leakwrap_site_upper(site, frame[to - 1]) > leakwrap_site_upper(site, moved);
		     to--)
			frame[to] = frame[to - 1];
		frame[to] = moved;
	}
}

/* How many of the varying frames from FIRST on make a group. */
static unsigned group_size(const struct walk *walk, unsigned first)
{
	const uintptr_t upper = leakwrap_site_upper(walk->site, walk->frame[first]);
	unsigned size = 1;

	while (size < LEAKWRAP_VARYING_AT_ONCE && first + size < walk->varying &&
	       leakwrap_site_upper(walk->site, walk->frame[first + size]) == upper)
		size++;
	return size;
}

static unsigned count_varying_groups(const struct walk *walk)
{
	unsigned groups = 0;

	for (unsigned first = 0; first < walk->varying; first += group_size(walk, first))
		groups++;
	return groups;
}

static void fill_varying(struct leakwrap_pattern *pattern, const struct walk *walk,
                         struct leakwrap_varying *group)
{
	for (unsigned first = 0, size; first < walk->varying; first += size, group++) {
		size = group_size(walk, first);
		group->upper = leakwrap_site_upper(walk->site, walk->frame[first]);
		for (unsigned i = 0; i < LEAKWRAP_VARYING_AT_ONCE; i++) {
			const uint16_t frame = walk->frame[first + (i < size ? i : size - 1)];
			const uint16_t place = walk->notes->place[frame - 1];

			group->place[i] = bytes(place);
			group->frame[i] = frame;
			reach(pattern, place);
		}
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

struct leakwrap_pattern *leakwrap_pattern_make(const struct leakwrap_notes *notes,
                                               const struct leakwrap_site *site, uint16_t *frame,
                                               unsigned varying)
{
	const struct walk walk = {notes, site, frame, varying};
	const bool has_end = notes->end_place != LEAKWRAP_PLACE_NONE;
	const unsigned in_pairs = count_pairs(&walk);
	const unsigned pair_groups = groups_of(in_pairs);
	const unsigned word_groups = groups_of(notes->returns - varying - in_pairs + has_end);
	const unsigned check_groups = groups_of(notes->checks - in_pairs);
	struct leakwrap_pattern *pattern;
	struct leakwrap_pairs *pairs;
	struct leakwrap_words *words, *checks;
	struct leakwrap_varying *varying_at;
	unsigned varying_groups;

	sort_by_upper(site, frame, varying);
	varying_groups = count_varying_groups(&walk);
	pattern = leakwrap_arena_take(sizeof(*pattern) + pair_groups * sizeof(*pairs) +
	                              word_groups * sizeof(*words) + check_groups * sizeof(*checks) +
	                              varying_groups * sizeof(*varying_at));
	if (!pattern)
		return NULL;
	pairs = (struct leakwrap_pairs *)(pattern + 1);
	words = (struct leakwrap_words *)(pairs + pair_groups);
	checks = words + word_groups;
	varying_at = (struct leakwrap_varying *)(checks + check_groups);
	pattern->like = site;
	pattern->pc = leakwrap_site_pc(site, 0);
	pattern->extent = 1; /* a stack without room has no pattern */
	pattern->number = varying == 0 ? site->number : LEAKWRAP_SITE_NONE;
	pattern->words = words;
	pattern->checks = checks;
	pattern->varying = varying_at;
	pattern->varying_groups = varying_groups;
	fill_returns(pattern, &walk, pairs, words);
	fill_varying(pattern, &walk, varying_at);
	fill_checks(pattern, &walk, checks);
	return pattern;
}
