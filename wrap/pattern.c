/* pattern.c - makes patterns of walks.  Called when a call site is seen for the first time, or in another form. */
#include "pattern.h"

#include "arena.h"

#include <string.h>

/* What a pattern is made of. */
struct walk {
	const struct leakwrap_notes *notes;
	const uintptr_t *pcs;
	bool varies[LEAKWRAP_MAX_DEPTH]; /* each frame */

	/* For each return address the check of the saved frame pointer in front of it, when the two make a pair; or NULL. */
	const struct leakwrap_check *check_of_pair[LEAKWRAP_MAX_DEPTH];
	bool is_in_pair[2 * LEAKWRAP_MAX_DEPTH]; /* each check */
	unsigned pairs, words, checks;           /* how many of each kind are compared (pattern.h) */
};

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
	const struct leakwrap_notes *notes = trace->notes;

	*walk = (struct walk){.notes = notes, .pcs = trace->pcs};
	for (unsigned i = 0; i < count; i++)
		walk->varies[frame[i]] = true;
	for (unsigned i = 0; i < notes->returns; i++)
		if (!walk->varies[i + 1])
			find_pair(walk, i);
	walk->words += notes->end_place != LEAKWRAP_PLACE_NONE;
	walk->checks = notes->checks - walk->pairs;
}

/* -- what stands behind the struct ------------------------------------------------------------------ */

/* Where the next image and the next place are to be written. */
struct pen {
	struct leakwrap_pattern *pattern;
	uintptr_t *image;
	uint16_t *place;
};

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

static void write_place(struct pen *pen, uint16_t place)
{
	*pen->place++ = place;
	reach(pen->pattern, place);
}

static void write_pair(struct pen *pen, uint16_t place, uintptr_t target, uintptr_t pc)
{
	write_place(pen, place);
	reach(pen->pattern, (uint16_t)(place + 1));
	*pen->image++ = target;
	*pen->image++ = pc;
}

/* A return address, or a check and its target in bytes. */
static void write_word(struct pen *pen, uint16_t place, uintptr_t image)
{
	write_place(pen, place);
	*pen->image++ = image;
}

static void write_pairs(struct pen *pen, const struct walk *walk)
{
	for (unsigned i = 0; i < walk->notes->returns; i++) {
		const struct leakwrap_check *check = walk->check_of_pair[i];

		if (check)
			write_pair(pen, check->place, bytes(check->target), walk->pcs[i + 1]);
	}
	if (walk->pairs % LEAKWRAP_FIXED_AT_ONCE != 0)
		write_pair(pen, pen->place[-1], pen->image[-2], pen->image[-1]);
}

/* Fills up a group after COUNT words. */
static void fill_up_words(struct pen *pen, unsigned count)
{
	if (count % LEAKWRAP_FIXED_AT_ONCE != 0)
		write_word(pen, pen->place[-1], pen->image[-1]);
}

static void write_words(struct pen *pen, const struct walk *walk)
{
	const struct leakwrap_notes *notes = walk->notes;

	for (unsigned i = 0; i < notes->returns; i++)
		if (!walk->varies[i + 1] && !walk->check_of_pair[i])
			write_word(pen, notes->place[i], walk->pcs[i + 1]);
	if (notes->end_place != LEAKWRAP_PLACE_NONE)
		write_word(pen, notes->end_place, notes->end_word);
	fill_up_words(pen, walk->words);
}

static void write_checks(struct pen *pen, const struct walk *walk)
{
	const struct leakwrap_notes *notes = walk->notes;

	for (unsigned i = 0; i < notes->checks; i++)
		if (!walk->is_in_pair[i])
			write_word(pen, notes->check[i].place, bytes(notes->check[i].target));
	fill_up_words(pen, walk->checks);
}

static void write_varying(struct pen *pen, const struct walk *walk, const uint16_t *frame,
                          unsigned varying)
{
	for (unsigned i = 0; i < leakwrap_varying_places(varying); i++)
		write_place(pen, walk->notes->place[frame[i < varying ? i : varying - 1] - 1]);
}

/* -- patterns ------------------------------------------------------------------------------------ */

/* How many members COUNT fixed ones and those that fill up the last group are. */
static unsigned filled_up(unsigned count)
{
	return (count + LEAKWRAP_FIXED_AT_ONCE - 1) / LEAKWRAP_FIXED_AT_ONCE * LEAKWRAP_FIXED_AT_ONCE;
}

/* A pattern with room for what WALK, in which VARYING frames vary, makes.  NULL when there is no memory. */
static struct leakwrap_pattern *pattern_for(const struct walk *walk, unsigned varying)
{
	const unsigned pairs = filled_up(walk->pairs), words = filled_up(walk->words),
	               checks = filled_up(walk->checks);
	const size_t images = (2 * pairs + words + checks) * sizeof(uintptr_t);
	const size_t places = (pairs + words + checks) * sizeof(uint16_t);
	struct leakwrap_pattern *pattern =
	        leakwrap_arena_take(sizeof(*pattern) + images + places +
	                            (leakwrap_varying_places(varying) + varying) * sizeof(uint16_t));

	if (!pattern)
		return NULL;
	pattern->words = (const uintptr_t *)(pattern + 1) + (size_t)2 * pairs;
	pattern->checks = pattern->words + words;
	pattern->places = (const uint16_t *)(pattern->checks + checks);
	pattern->varying_at = (uint16_t)(images + places);
	pattern->varying = (uint8_t)varying;
	return pattern;
}

struct leakwrap_pattern *leakwrap_pattern_make(const struct leakwrap_trace *trace,
                                               const struct leakwrap_kept *like, const uint16_t *frame,
                                               unsigned varying)
{
	static struct walk walk;
	const struct leakwrap_notes *notes = trace->notes;
	struct leakwrap_pattern *pattern;
	struct pen pen;

	prepare(&walk, trace, frame, varying);
	pattern = pattern_for(&walk, varying);
	if (!pattern)
		return NULL;
	pattern->like = like;
	pattern->pc = trace->pcs[0];
	pattern->extent = 1; /* a stack without room has no pattern */
	pattern->fp_target =
	        notes->fp_target == LEAKWRAP_PLACE_NONE ? LEAKWRAP_FP_ANY : bytes(notes->fp_target);
	pen = (struct pen){pattern, (uintptr_t *)(pattern + 1), (uint16_t *)pattern->places};
	write_pairs(&pen, &walk);
	write_words(&pen, &walk);
	write_checks(&pen, &walk);
	write_varying(&pen, &walk, frame, varying);
	if (varying > 0)
		memcpy(pen.place, frame, varying * sizeof(frame[0]));
	return pattern;
}
