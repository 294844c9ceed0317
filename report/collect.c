/* collect.c - see collect.h. */
#include "collect.h"

#include "live.h"
#include "port.h"

#include <string.h>

/* While the live table is walked, rows are indexed by call-site number. */
struct walk {
	struct leakwrap_row *rows;
	uint32_t limit;
};

static void add_block(void *context, const struct leakwrap_live_block *block)
{
	struct walk *walk = context;

	/* A call site that is new since the walk began has new blocks alone: they may be left out. */
	if (block->site >= walk->limit)
		return;
	walk->rows[block->site].bytes += block->size;
	walk->rows[block->site].blocks++;
}

/* Largest first; the older call site when they are equal, so that the order is always the same. */
static bool comes_before(const struct leakwrap_row *a, const struct leakwrap_row *b)
{
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes;
	if (a->blocks != b->blocks)
		return a->blocks > b->blocks;
	return (a->site ? a->site->number : 0) < (b->site ? b->site->number : 0);
}

static void swap(struct leakwrap_row *a, struct leakwrap_row *b)
{
	struct leakwrap_row kept = *a;

	*a = *b;
	*b = kept;
}

/* Lets the row at ROOT sink to its place in the heap of COUNT rows, whose top comes last. */
static void sink(struct leakwrap_row *rows, size_t root, size_t count)
{
	for (;;) {
		size_t child = 2 * root + 1;

		if (child >= count)
			return;
		if (child + 1 < count && comes_before(&rows[child], &rows[child + 1]))
			child++;
		if (!comes_before(&rows[root], &rows[child]))
			return;
		swap(&rows[root], &rows[child]);
		root = child;
	}
}

/* Heap sort: in place, and never quadratic.  (The C library's qsort allocates.) */
static void sort(struct leakwrap_row *rows, size_t count)
{
	for (size_t root = count / 2; root-- > 0;)
		sink(rows, root, count);
	for (size_t end = count; end-- > 1;) {
		swap(&rows[0], &rows[end]);
		sink(rows, 0, end);
	}
}

bool leakwrap_collect(struct leakwrap_collection *collection)
{
	struct walk walk;
	const struct leakwrap_site *site = leakwrap_sites(&walk.limit);

	memset(collection, 0, sizeof(*collection));
	collection->scratch_size = walk.limit * sizeof(walk.rows[0]);
	walk.rows = leakwrap_scratch_map(collection->scratch_size);
	if (!walk.rows)
		return false;
	for (; site; site = site->next)
		if (site->number < walk.limit)
			walk.rows[site->number].site = site;
	leakwrap_live_each(add_block, &walk);
	collection->rows = walk.rows;
	for (uint32_t number = LEAKWRAP_SITE_LOST; number < walk.limit; number++) {
		const struct leakwrap_row row = walk.rows[number];
		unsigned kind = row.site ? row.site->kind : LEAKWRAP_TRACE_TRUNCATED;

		if (row.blocks == 0)
			continue;
		collection->rows[collection->count++] = row;
		collection->bytes += row.bytes;
		collection->blocks += row.blocks;
		collection->bytes_of_kind[kind] += row.bytes;
		collection->blocks_of_kind[kind] += row.blocks;
	}
	sort(collection->rows, collection->count);
	return true;
}

void leakwrap_collection_release(struct leakwrap_collection *collection)
{
	if (collection->rows)
		leakwrap_scratch_unmap(collection->rows, collection->scratch_size);
	collection->rows = NULL;
}
