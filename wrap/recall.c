/* recall.c - learns to recognize stacks; see recall.h.  Called when a stack was not recognized and has been walked. */
#include "recall.h"

#include "tables.h"

#include <string.h>

/* A call site whose stacks come in ever new forms (variable-length arrays) is left to the walk: nothing more is kept for it, and
 * its allocations take no lock. */
#define FORMS_MAX 8

const struct leakwrap_pattern *_Atomic leakwrap_hints[LEAKWRAP_HINT_WAYS][1 << LEAKWRAP_HINT_SETS_BITS];

/* A plain store: the tables' lock is held, and not every machine changes a byte atomically. */
static void count_form(struct leakwrap_site *site)
{
	const unsigned forms = atomic_load_explicit(&site->forms, memory_order_relaxed);

	atomic_store_explicit(&site->forms, (uint8_t)(forms + 1), memory_order_relaxed);
}

/* -- layouts ------------------------------------------------------------------------------------- */

/* The form of stacks without their contents: where a walk that begins at one pc found what.  Layouts are interned: two that
 * are equal are the same object, and none ever dies.  A layout belongs to what may be unloaded of the modules that
 * it goes through: nothing, one module, or all. */
struct layout {
	UT_hash_handle hh; /* by what follows, from belongs_to up to its end */
	struct leakwrap_pattern *pattern;
	const void *belongs_to; /* a module, the snapshot, or NULL: modules that are never unloaded */
	const uint32_t *uppers; /* variants have these in common */
	uintptr_t pc, end_word;
	uint16_t fp_target, end_place, returns, checks, kind;
	uint16_t place[]; /* of the return addresses; the checks, place and target, follow */
};

#define LAYOUT_KEY offsetof(struct layout, belongs_to)

/* No padding: layouts are compared as memory. */
_Static_assert(offsetof(struct layout, place) ==
                       LAYOUT_KEY + 4 * sizeof(uintptr_t) + 5 * sizeof(uint16_t),
               "struct layout has no holes");

static struct layout *layouts; /* uthash */

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

/* The layout of the walk that led to TRACE and so to SITE, or NULL when there is no memory.  uthash needs the key in memory before it
 * can be looked up. */
static struct layout *layout_of(const struct leakwrap_trace *trace, const struct leakwrap_site *site)
{
	static union {
		struct layout layout;
		char room[sizeof(struct layout) + (size_t)5 * LEAKWRAP_MAX_DEPTH * sizeof(uint16_t)];
	} wanted;
	const struct leakwrap_notes *notes = trace->notes;
	const size_t places = notes->returns * sizeof(notes->place[0]);
	const size_t checks = notes->checks * sizeof(notes->check[0]);
	const size_t size = offsetof(struct layout, place) + places + checks;
	struct layout *layout = &wanted.layout;

	layout->belongs_to = owner_of(trace);
	layout->pc = trace->pcs[0];
	layout->end_word = notes->end_word;
	layout->uppers = leakwrap_site_uppers(site);
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

/* -- patterns ------------------------------------------------------------------------------------ */

/* Is the return address PC that of one of the COUNT frames FRAME, in SITE or in LIKE? */
static bool is_among(uintptr_t pc, const uint16_t *frame, unsigned count,
                     const struct leakwrap_site *site, const struct leakwrap_site *like)
{
	for (unsigned i = 0; i < count; i++)
		if (pc == leakwrap_site_pc(site, frame[i]) || pc == leakwrap_site_pc(like, frame[i]))
			return true;
	return false;
}

/* Tells for each frame whether it varies in PATTERN. */
static void mark_varying(const struct leakwrap_pattern *pattern, bool varies[LEAKWRAP_MAX_DEPTH])
{
	const struct leakwrap_varying *varying = pattern->varying;

	memset(varies, 0, LEAKWRAP_MAX_DEPTH * sizeof(varies[0]));
	for (unsigned group = 0; group < pattern->varying_groups; group++)
		for (unsigned i = 0; i < LEAKWRAP_VARYING_AT_ONCE; i++)
			varies[varying[group].frame[i]] = true;
}

/* Finds the frames that vary in PATTERN, and those in which SITE, of the same layout, differs from it: ascending in FRAME.
 * Returns how many they are; *NEWS tells whether some are new. */
static unsigned frames_differing(const struct leakwrap_pattern *pattern,
                                 const struct leakwrap_site *site, uint16_t *frame, bool *news)
{
	static bool varies[LEAKWRAP_MAX_DEPTH];
	unsigned count = 0;

	mark_varying(pattern, varies);
	*news = false;
	for (uint16_t i = 1; i < site->depth; i++) {
		if (!varies[i] && leakwrap_site_pc(pattern->like, i) == leakwrap_site_pc(site, i))
			continue;
		*news |= !varies[i];
		frame[count++] = i;
	}
	return count;
}

/* Finds the frames that vary in the pattern for which PATTERN is too narrow: the COUNT frames DIFFERING, and, since what recurs may
 * vary wherever it does, those with the same return addresses.  Returns how many they are. */
static unsigned frames_varying(const struct leakwrap_pattern *pattern, const struct leakwrap_site *site,
                               const uint16_t *differing, unsigned count, uint16_t *frame)
{
	unsigned varying = 0;

	for (uint16_t i = 1; i < site->depth; i++)
		if (is_among(leakwrap_site_pc(site, i), differing, count, site, pattern->like))
			frame[varying++] = i;
	return varying;
}

/* The pattern of LAYOUT, which holds for the stack of SITE that was just walked: made, or made wider, when it is not there.  NULL
 * when there is no memory. */
static struct leakwrap_pattern *pattern_of(struct layout *layout, struct leakwrap_site *site,
                                           const struct leakwrap_notes *notes)
{
	static uint16_t differing[LEAKWRAP_MAX_DEPTH], frame[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_pattern *old = layout->pattern, *pattern;
	unsigned varying = 0;
	bool news = true;

	if (old)
		varying = frames_differing(old, site, differing, &news);
	if (!news)
		return old;
	if (old)
		varying = frames_varying(old, site, differing, varying, frame);
	pattern = leakwrap_pattern_make(notes, site, frame, varying);
	if (!pattern || (old && !leakwrap_variants_inherit(pattern, old)))
		return NULL;
	layout->pattern = pattern;
	if (old)
		old->replaced = true;
	else
		count_form(site);
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

void leakwrap_recall_learn(struct leakwrap_site *site, const struct leakwrap_trace *trace,
                           const struct leakwrap_stack *stack)
{
	const struct leakwrap_notes *notes = trace->notes;
	struct leakwrap_pattern *pattern = NULL;
	struct layout *layout;

	if (!notes || !notes->usable || stack->foreign || trace->depth != notes->returns + 1u ||
	    atomic_load_explicit(&site->forms, memory_order_relaxed) >= FORMS_MAX)
		return;
	leakwrap_lock(&leakwrap_tables_lock);
	/* A walk with other modules than now tells nothing. */
	layout = notes->modules == leakwrap_modules() ? layout_of(trace, site) : NULL;
	if (layout)
		pattern = pattern_of(layout, site, notes);
	if (pattern) {
		if (pattern->number == LEAKWRAP_SITE_NONE && leakwrap_variant_add(pattern, site))
			count_form(site);
		hint_at(pattern, leakwrap_hint_set(stack->high - notes->sp, trace->pcs[0]));
	}
	leakwrap_unlock(&leakwrap_tables_lock);
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
		if (number != LEAKWRAP_SITE_NONE)
			return number;
	}
	return LEAKWRAP_SITE_NONE;
}
