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

#define KEY_OFFSET offsetof(struct leakwrap_layout, belongs_to)

/* No padding: layouts are compared as memory. */
_Static_assert(offsetof(struct leakwrap_layout, place) ==
                       KEY_OFFSET + 2 * sizeof(uintptr_t) + 4 * sizeof(uint32_t),
               "struct leakwrap_layout has no holes");

static size_t size_of(uint16_t returns, uint16_t checks)
{
	return offsetof(struct leakwrap_layout, place) + (returns + 2u * checks) * sizeof(uint32_t);
}

static uint32_t bytes(uint16_t place)
{
	return place == LEAKWRAP_PLACE_NONE ? LEAKWRAP_LAYOUT_NONE
	                                    : place * (uint32_t)sizeof(uintptr_t);
}

static void extend_to(uint32_t *extent, uint32_t place)
{
	if (place != LEAKWRAP_LAYOUT_NONE && place >= *extent)
		*extent = place + (uint32_t)sizeof(uintptr_t);
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
	uint32_t *next = layout->place;

	atomic_store_explicit(&layout->modules, leakwrap_modules(), memory_order_relaxed);
	layout->told_by = LEAKWRAP_TOLD_BY_NONE;
	layout->belongs_to = owner;
	layout->end_word = notes->end_word;
	layout->fp_target = bytes(notes->fp_target);
	layout->end_place = bytes(notes->end_place);
	layout->extent = 1; /* a stack without room has no layout */
	layout->returns = notes->returns;
	layout->checks = notes->checks;
	extend_to(&layout->extent, layout->end_place);
	for (unsigned i = 0; i < notes->returns; i++, next++) {
		*next = bytes(notes->place[i]);
		extend_to(&layout->extent, *next);
	}
	for (unsigned i = 0; i < notes->checks; i++, next += 2) {
		next[0] = bytes(notes->check[i].place);
		next[1] = bytes(notes->check[i].target);
		extend_to(&layout->extent, next[0]);
	}
}

bool leakwrap_layout_is_of(const struct leakwrap_layout *layout, const struct leakwrap_notes *notes)
{
	const uint32_t *next = layout->place;

	if (!leakwrap_layout_is_good(layout) || layout->returns != notes->returns ||
	    layout->checks != notes->checks || layout->fp_target != bytes(notes->fp_target) ||
	    layout->end_place != bytes(notes->end_place) || layout->end_word != notes->end_word)
		return false;
	for (unsigned i = 0; i < notes->returns; i++, next++)
		if (*next != bytes(notes->place[i]))
			return false;
	for (unsigned i = 0; i < notes->checks; i++, next += 2)
		if (next[0] != bytes(notes->check[i].place) || next[1] != bytes(notes->check[i].target))
			return false;
	return true;
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
	HASH_ADD(hh, layouts, layout.belongs_to, size - KEY_OFFSET, record);
	return leakwrap_tables_failed ? NULL : record;
}

/* uthash needs the key in memory before it can be looked up. */
struct leakwrap_layout *leakwrap_layout_of(const struct leakwrap_notes *notes, const uintptr_t *pcs,
                                           unsigned depth)
{
	static union {
		struct leakwrap_layout layout;
		char room[sizeof(struct leakwrap_layout) +
		          (size_t)5 * LEAKWRAP_MAX_DEPTH * sizeof(uint32_t)];
	} wanted;
	size_t size = size_of(notes->returns, notes->checks);
	const void *owner = owner_of(notes, pcs, depth);
	struct layout_record *record;

	leakwrap_lock(&leakwrap_tables_lock);
	fill(&wanted.layout, notes, owner);
	HASH_FIND(hh, layouts, &wanted.layout.belongs_to, size - KEY_OFFSET, record);
	if (record)
		atomic_store_explicit(&record->layout.modules, leakwrap_modules(),
		                      memory_order_relaxed);
	else
		record = add_layout(&wanted.layout, size);
	leakwrap_unlock(&leakwrap_tables_lock);
	return record ? &record->layout : NULL;
}
