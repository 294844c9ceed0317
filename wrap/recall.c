/* recall.c - learns to recognize stacks; see recall.h.  Called when a stack was not recognized and has been walked. */
#include "recall.h"

#include "kept.h"
#include "modules.h"
#include "site_record.h"
#include "tables.h"

#include <string.h>

/* A call site whose stacks come in ever new forms (variable-length arrays) is left to the walk: nothing more is kept for it, and
 * its allocations take no lock. */
#define FORMS_MAX 8

const struct leakwrap_pattern *_Atomic leakwrap_hints[LEAKWRAP_HINT_WAYS][1 << LEAKWRAP_HINT_SETS_BITS];

static _Atomic uint8_t *forms_of(uint32_t number)
{
	return &leakwrap_site_chunk(number)->forms[number % LEAKWRAP_SITE_CHUNK];
}

/* A plain store: the tables' lock is held, and not every machine changes a byte atomically. */
static void count_form(uint32_t number)
{
	_Atomic uint8_t *forms = forms_of(number);

	atomic_store_explicit(forms, (uint8_t)(atomic_load_explicit(forms, memory_order_relaxed) + 1),
	                      memory_order_relaxed);
}

/* -- layouts ------------------------------------------------------------------------------------- */

/* The form of stacks without their contents: where a walk that begins at one pc found what.  Layouts are interned: two that
 * are equal are the same object, and none ever dies.  A layout belongs to what may be unloaded of the modules that
 * it goes through: nothing, one module, or all. */
struct leakwrap_layout {
	UT_hash_handle hh; /* by what follows, from belongs_to up to its end */
	struct leakwrap_pattern *pattern;
	bool final; /* there was no memory for a wider pattern: there shall be none */
	struct leakwrap_members members;
	const void *belongs_to; /* a module, the snapshot, or NULL: modules that are never unloaded */
	const uint32_t *uppers; /* variants have these in common */
	uintptr_t pc, end_word;
	uint16_t fp_target, end_place, returns, checks, kind;
	uint16_t place[]; /* of the return addresses; the checks, place and target, follow */
};

#define LAYOUT_KEY offsetof(struct leakwrap_layout, belongs_to)

/* No padding: layouts are compared as memory. */
_Static_assert(offsetof(struct leakwrap_layout, place) ==
                       LAYOUT_KEY + 4 * sizeof(uintptr_t) + 5 * sizeof(uint16_t),
               "a layout has no holes");

static struct leakwrap_layout *layouts; /* uthash */

static const void *owner_of(const struct leakwrap_trace *trace)
{
	const struct leakwrap_notes *notes = trace->notes;
	const struct leakwrap_module *owner = NULL;

	/* Where the walk came to an end, another module may be loaded. */
	if (notes->end_place != LEAKWRAP_PLACE_NONE && notes->end_word != 0)
		return leakwrap_modules();
	for (unsigned i = 0; i < trace->depth; i++) {
		const struct leakwrap_module *module = leakwrap_module_at(trace->pcs[i] - 1);

		if (!module || (!module->permanent && owner && owner != module))
			return leakwrap_modules();
		if (!module->permanent)
			owner = module;
	}
	return owner;
}

/* The layout of the walk that led to TRACE, or NULL when there is no memory.  uthash needs the key in memory before it can be looked
 * up. */
static struct leakwrap_layout *intern(const struct leakwrap_trace *trace)
{
	static union {
		struct leakwrap_layout layout;
		char room[sizeof(struct leakwrap_layout) +
		          (size_t)5 * LEAKWRAP_MAX_DEPTH * sizeof(uint16_t)];
	} wanted;
	const struct leakwrap_notes *notes = trace->notes;
	const size_t places = notes->returns * sizeof(notes->place[0]);
	const size_t checks = notes->checks * sizeof(notes->check[0]);
	const size_t size = offsetof(struct leakwrap_layout, place) + places + checks;
	struct leakwrap_layout *layout = &wanted.layout;

	if (!leakwrap_uppers_of(trace, false, &layout->uppers))
		return NULL;
	layout->belongs_to = owner_of(trace);
	layout->pc = trace->pcs[0];
	layout->end_word = notes->end_word;
	layout->fp_target = notes->fp_target;
	layout->end_place = notes->end_place;
	layout->returns = notes->returns;
	layout->checks = notes->checks;
	layout->kind = (uint16_t)trace->kind;
	memcpy(layout->place, notes->place, places);
	memcpy((char *)layout->place + places, notes->check, checks);
	HASH_FIND(hh, layouts, &wanted.layout.belongs_to, size - LAYOUT_KEY, layout);
	if (layout)
		return layout;
	layout = leakwrap_arena_take(size);
	if (!layout)
		return NULL;
	memcpy(layout, &wanted, size);
	leakwrap_tables_failed = false;
	HASH_ADD(hh, layouts, belongs_to, size - LAYOUT_KEY, layout);
	return leakwrap_tables_failed ? NULL : layout;
}

/* Can a stack be recognized whose walk led to TRACE? */
static bool is_learnable(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack)
{
	const struct leakwrap_notes *notes = trace->notes;

	return notes && notes->usable && !stack->foreign && trace->depth == notes->returns + 1u;
}

struct leakwrap_layout *leakwrap_layout_of(const struct leakwrap_trace *trace,
                                           const struct leakwrap_stack *stack)
{
	/* A walk with other modules than now tells nothing. */
	return is_learnable(trace, stack) && trace->notes->modules == leakwrap_modules() ? intern(trace)
	                                                                                 : NULL;
}

/* -- patterns ------------------------------------------------------------------------------------ */

/* Is the return address PC that of one of the COUNT frames FRAME, in TRACE or in LIKE? */
static bool is_among(uintptr_t pc, const uint16_t *frame, unsigned count,
                     const struct leakwrap_trace *trace, const struct leakwrap_kept *like)
{
	for (unsigned i = 0; i < count; i++)
		if (pc == trace->pcs[frame[i]] || pc == leakwrap_kept_pc(like, frame[i]))
			return true;
	return false;
}

/* Tells for each frame whether it varies in PATTERN. */
static void mark_varying(const struct leakwrap_pattern *pattern, bool varies[LEAKWRAP_MAX_DEPTH])
{
	const uint16_t *frame = leakwrap_pattern_frames(pattern);

	memset(varies, 0, LEAKWRAP_MAX_DEPTH * sizeof(varies[0]));
	for (unsigned i = 0; i < pattern->varying; i++)
		varies[frame[i]] = true;
}

/* Finds the frames that vary in PATTERN, and those in which TRACE, of the same layout, differs from it: ascending in FRAME.
 * Returns how many they are; *NEWS tells whether some are new. */
static unsigned frames_differing(const struct leakwrap_pattern *pattern,
                                 const struct leakwrap_trace *trace, uint16_t *frame, bool *news)
{
	static bool varies[LEAKWRAP_MAX_DEPTH];
	unsigned count = 0;

	mark_varying(pattern, varies);
	*news = false;
	for (uint16_t i = 1; i < trace->depth; i++) {
		if (!varies[i] && leakwrap_kept_pc(pattern->like, i) == trace->pcs[i])
			continue;
		*news |= !varies[i];
		frame[count++] = i;
	}
	return count;
}

/* Adds frames to the COUNT ones that VARY, of DEPTH ones, up to WANTED: those behind the innermost one that does, then others. */
static void spread(bool varies[LEAKWRAP_MAX_DEPTH], unsigned depth, unsigned count, unsigned wanted)
{
	bool behind = false;

	for (unsigned i = 1; i < depth && count < wanted; i++) {
		behind |= varies[i];
		count += behind && !varies[i];
		varies[i] |= behind;
	}
	for (unsigned i = 1; i < depth && count < wanted; i++) {
		count += !varies[i];
		varies[i] = true;
	}
}

/* The pattern of a layout with more call sites than this becomes twice as wide, when it has to: each time all of them are kept again. */
#define WIDENED_AT_LEISURE 200

/* Finds the frames that vary in the pattern for which that of LAYOUT is too narrow: the COUNT frames DIFFERING, and, since what recurs may
 * vary wherever it does, those with the same return addresses.  Returns how many they are. */
static unsigned frames_varying(const struct leakwrap_layout *layout, const struct leakwrap_trace *trace,
                               const uint16_t *differing, unsigned count, uint16_t *frame)
{
	const struct leakwrap_pattern *pattern = layout->pattern;
	static bool varies[LEAKWRAP_MAX_DEPTH];
	unsigned varying = 0;

	for (unsigned i = 1; i < trace->depth; i++) {
		varies[i] = is_among(trace->pcs[i], differing, count, trace, pattern->like);
		varying += varies[i];
	}
	if (layout->members.count > WIDENED_AT_LEISURE)
		spread(varies, trace->depth, varying, 2 * leakwrap_varying_places(pattern->varying));
	varying = 0;
	for (uint16_t i = 1; i < trace->depth; i++)
		if (varies[i])
			frame[varying++] = i;
	return varying;
}

struct leakwrap_pattern *leakwrap_layout_cover(struct leakwrap_layout *layout,
                                               const struct leakwrap_trace *trace)
{
	static uint16_t differing[LEAKWRAP_MAX_DEPTH], frame[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_pattern *old = layout->pattern, *pattern;
	unsigned varying;
	bool news;

	if (!old)
		return NULL;
	varying = frames_differing(old, trace, differing, &news);
	if (!news)
		return old;
	if (layout->final)
		return NULL;
	varying = frames_varying(layout, trace, differing, varying, frame);
	pattern = leakwrap_pattern_make(trace, old->like, frame, varying);
	if (!pattern || !leakwrap_variants_inherit(pattern, &layout->members)) {
		layout->final = true;
		return NULL;
	}
	layout->pattern = pattern;
	old->replaced = true;
	return pattern;
}

/* The first pattern of LAYOUT: that of the call site NUMBER alone, with the backtrace TRACE.  NULL when there is no memory. */
static struct leakwrap_pattern *first_pattern(struct leakwrap_layout *layout, uint32_t number,
                                              const struct leakwrap_trace *trace)
{
	const struct leakwrap_site *site = leakwrap_site_numbered(number);
	/* Other call sites of the pattern may go through modules that were not loaded when this one was seen first. */
	const bool is_of_now =
	        !site->pattern && (!site->kept->modules || site->kept->modules == leakwrap_modules());
	const struct leakwrap_kept *like = is_of_now ? site->kept : leakwrap_kept_make(trace, false);
	struct leakwrap_pattern *pattern = like ? leakwrap_pattern_make(trace, like, NULL, 0) : NULL;

	if (pattern) {
		pattern->number = number;
		layout->pattern = pattern;
	}
	return pattern;
}

/* -- hints --------------------------------------------------------------------------------------- */

/* Puts PATTERN first, in the place of one that it has replaced. */
static void hint_at(const struct leakwrap_pattern *pattern, uint32_t set)
{
	const struct leakwrap_pattern *moved = pattern;

	for (unsigned way = 0; way < LEAKWRAP_HINT_WAYS && moved; way++) {
		moved = atomic_exchange(&leakwrap_hints[way][set], moved);
		if (moved == pattern || (moved && moved->replaced))
			break;
	}
}

bool leakwrap_recall_wants(uint32_t number, const struct leakwrap_trace *trace,
                           const struct leakwrap_stack *stack)
{
	return is_learnable(trace, stack) &&
	       atomic_load_explicit(forms_of(number), memory_order_relaxed) < FORMS_MAX;
}

void leakwrap_recall_learn(struct leakwrap_layout *layout, struct leakwrap_pattern *pattern,
                           uint32_t number, bool is_new, const struct leakwrap_trace *trace,
                           const struct leakwrap_stack *stack)
{
	bool joins = true;

	if (!layout->pattern)
		pattern = first_pattern(layout, number, trace);
	else
		joins = pattern && pattern->varying > 0 &&
		        leakwrap_variant_add(pattern, number, trace->pcs);
	if (!pattern)
		return;
	if (joins) {
		count_form(number);
		leakwrap_variant_joins(&layout->members, number, is_new);
	}
	hint_at(pattern, leakwrap_hint_set(stack->high - trace->notes->sp, trace->pcs[0]));
}

/* A thread that still has a pattern out of a hint has a stack of the time before.  What holds no hint is not written to:
 * at the start that would take all of the table into memory. */
void leakwrap_recall_forget(void)
{
	for (unsigned way = 0; way < LEAKWRAP_HINT_WAYS; way++)
		for (unsigned set = 0; set < 1u << LEAKWRAP_HINT_SETS_BITS; set++)
			if (atomic_load_explicit(&leakwrap_hints[way][set], memory_order_relaxed))
				atomic_store_explicit(&leakwrap_hints[way][set], NULL,
				                      memory_order_relaxed);
}

/* PATTERN, which was the hint WAY of SET, is the first one from now on: a program that comes back to a place soon mostly does so with
 * the same stack.  When two threads do this at once, one of the hints may be lost, or stand there twice. */
static void put_first(uint32_t set, unsigned way, const struct leakwrap_pattern *pattern)
{
	if (way == 0)
		return;
	atomic_store_explicit(&leakwrap_hints[way][set],
	                      atomic_load_explicit(&leakwrap_hints[0][set], memory_order_acquire),
	                      memory_order_release);
	atomic_store_explicit(&leakwrap_hints[0][set], pattern, memory_order_release);
}

uint32_t leakwrap_site_recall(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	uintptr_t room = leakwrap_stack_room(sp);
	uint32_t set = leakwrap_hint_set(room, pc);

	for (unsigned way = 0; way < LEAKWRAP_HINT_WAYS; way++) {
		const struct leakwrap_pattern *pattern =
		        leakwrap_pattern_at(set, way, room, pc, sp, fp);
		uint32_t number = LEAKWRAP_SITE_NONE;

		if (pattern)
			number = pattern->number != LEAKWRAP_SITE_NONE
			                 ? pattern->number
			                 : leakwrap_variant_recall(pattern, sp);
		if (number != LEAKWRAP_SITE_NONE) {
			put_first(set, way, pattern);
			return number;
		}
	}
	return LEAKWRAP_SITE_NONE;
}
