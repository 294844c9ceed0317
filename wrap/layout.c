/* layout.c - interns layouts.  Called when a call site is seen for the first time, or in another form. */
#include "layout.h"

#include "modules.h"
#include "tables.h"

#include <string.h>

struct layout_record {
	UT_hash_handle hh; /* by the layout, up to its end */
	struct leakwrap_layout layout;
};

static struct layout_record *layouts; /* uthash */

/* No padding: layouts are compared as memory. */
_Static_assert(offsetof(struct leakwrap_layout, place) == 2 * sizeof(uintptr_t) + 5 * sizeof(uint16_t),
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

static void fill(struct leakwrap_layout *layout, const struct leakwrap_notes *notes)
{
	layout->modules = leakwrap_modules();
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
	return layout->modules == leakwrap_modules() && layout->returns == notes->returns &&
	       layout->checks == notes->checks && layout->fp_target == notes->fp_target &&
	       layout->end_place == notes->end_place && layout->end_word == notes->end_word &&
	       memcmp(layout->place, notes->place, notes->returns * sizeof(notes->place[0])) == 0 &&
	       memcmp(layout->place + notes->returns, notes->check,
	              notes->checks * sizeof(notes->check[0])) == 0;
}

/* uthash needs the key in memory before it can be looked up, so it is built where a new record would
 * stand; one that turns out to be known is kept for the next time. */
const struct leakwrap_layout *leakwrap_layout_of(const struct leakwrap_notes *notes)
{
	static struct layout_record *spare;
	static size_t spare_size;
	size_t size = size_of(notes->returns, notes->checks);
	struct layout_record *known;

	leakwrap_lock(&leakwrap_tables_lock);
	if (!spare || spare_size < size) {
		spare = leakwrap_arena_take(offsetof(struct layout_record, layout) + size);
		spare_size = spare ? size : 0;
	}
	known = NULL;
	if (spare) {
		fill(&spare->layout, notes);
		HASH_FIND(hh, layouts, &spare->layout, size, known);
		if (!known) {
			leakwrap_tables_failed = false;
			HASH_ADD(hh, layouts, layout, size, spare);
			if (!leakwrap_tables_failed)
				known = spare;
			spare = NULL;
		}
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	return known ? &known->layout : NULL;
}
