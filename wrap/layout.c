/* layout.c - interns layouts.  Called when a call site is seen for the first time, or in another form. */
#include "layout.h"

#include "tables.h"
#include "unwind.h"

#include <string.h>

struct layout_record {
	UT_hash_handle hh; /* by the layout, from belongs_to up to its end */
	struct leakwrap_layout layout;
};

static struct layout_record *layouts; /* uthash */

/* No padding: layouts are compared as memory. */
_Static_assert(offsetof(struct leakwrap_layout, place) == 3 * sizeof(uintptr_t) + 5 * sizeof(uint16_t),
               "struct leakwrap_layout has no holes");

static size_t size_of(uint16_t returns, uint16_t checks)
{
	return offsetof(struct leakwrap_layout, place) + (returns + 2u * checks) * sizeof(uint16_t);
}

static uint16_t extent_of(const struct leakwrap_notes *notes)
{
	unsigned extent = 0;

	for (unsigned i = 0; i < notes->returns; i++)
		if (notes->place[i] >= extent)
			extent = notes->place[i] + 1u;
	for (unsigned i = 0; i < notes->checks; i++)
		if (notes->check[i].place >= extent)
			extent = notes->check[i].place + 1u;
	if (notes->end_place != LEAKWRAP_PLACE_NONE && notes->end_place >= extent)
		extent = notes->end_place + 1u;
	return (uint16_t)extent;
}

static const void *owner_of(const struct leakwrap_notes *notes, const uintptr_t *pcs, unsigned depth)
{
	const struct leakwrap_module *owner = NULL;

	/* Where the walk came to an end, another module may be loaded. */
	if (notes->end_place != LEAKWRAP_PLACE_NONE && notes->end_word != 0)
		return leakwrap_modules();
	for (unsigned i = 0; i < depth; i++) {
		const struct leakwrap_module *module = leakwrap_module_at(pcs[i] - 1);

		if (!module || (!module->permanent && owner && owner != module))
			return leakwrap_modules();
		if (!module->permanent)
			owner = module;
	}
	return owner;
}

static void fill(struct leakwrap_layout *layout, const struct leakwrap_notes *notes, const void *owner)
{
	atomic_store_explicit(&layout->modules, leakwrap_modules(), memory_order_relaxed);
	layout->belongs_to = owner;
	layout->returns = notes->returns;
	layout->checks = notes->checks;
	layout->fp_target = notes->fp_target;
	layout->end_place = notes->end_place;
	layout->end_word = notes->end_word;
	layout->extent = extent_of(notes);
	memcpy(layout->place, notes->place, notes->returns * sizeof(notes->place[0]));
	memcpy(layout->place + notes->returns, notes->check, notes->checks * sizeof(notes->check[0]));
}

bool leakwrap_layout_is_of(const struct leakwrap_layout *layout, const struct leakwrap_notes *notes)
{
	return leakwrap_layout_is_good(layout) && layout->returns == notes->returns &&
	       layout->checks == notes->checks && layout->fp_target == notes->fp_target &&
	       layout->end_place == notes->end_place && layout->end_word == notes->end_word &&
	       memcmp(layout->place, notes->place, notes->returns * sizeof(notes->place[0])) == 0 &&
	       memcmp(layout->place + notes->returns, notes->check,
	              notes->checks * sizeof(notes->check[0])) == 0;
}

/* The lock is held. */
static struct layout_record *add_layout(const struct leakwrap_layout *layout, size_t size)
{
	struct layout_record *record =
	        leakwrap_arena_take(offsetof(struct layout_record, layout) + size);

	if (!record)
		return NULL;
	memcpy(&record->layout, layout, size);
	leakwrap_tables_failed = false;
	HASH_ADD(hh, layouts, layout.belongs_to, size - offsetof(struct leakwrap_layout, belongs_to),
	         record);
	return leakwrap_tables_failed ? NULL : record;
}

/* uthash needs the key in memory before it can be looked up. */
const struct leakwrap_layout *leakwrap_layout_of(const struct leakwrap_notes *notes,
                                                 const uintptr_t *pcs, unsigned depth)
{
	static union {
		struct leakwrap_layout layout;
		char room[sizeof(struct leakwrap_layout) +
		          (size_t)3 * LEAKWRAP_MAX_DEPTH * sizeof(uint16_t)];
	} wanted;
	size_t size = size_of(notes->returns, notes->checks);
	const void *owner = owner_of(notes, pcs, depth);
	struct layout_record *record;

	leakwrap_lock(&leakwrap_tables_lock);
	fill(&wanted.layout, notes, owner);
	HASH_FIND(hh, layouts, &wanted.layout.belongs_to,
	          size - offsetof(struct leakwrap_layout, belongs_to), record);
	if (record)
		atomic_store_explicit(&record->layout.modules, leakwrap_modules(),
		                      memory_order_relaxed);
	else
		record = add_layout(&wanted.layout, size);
	leakwrap_unlock(&leakwrap_tables_lock);
	return record ? &record->layout : NULL;
}
