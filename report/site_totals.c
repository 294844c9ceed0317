/* site_totals.c - see site_totals.h. */
#include "report/site_totals.h"

#include "wrap/base/common.h"
#include "wrap/live/live.h"
#include "wrap/port/port.h"

#include <string.h>

/* By which call sites a forked child tells its own blocks from inherited ones. */
struct fork_line {
	uint32_t first_own;     /* LEAKWRAP_SITE_FIRST: no block is inherited */
	bool lost_is_inherited; /* a block without a backtrace is the parent's: the child has lost none */
};

/* While the live table is walked, rows are indexed by call-site number, from the first one on. */
struct walk {
	struct leakwrap_row *rows;
	uint32_t first, count;
	struct fork_line fork;
	bool own;                               /* inherited blocks are left out */
	struct leakwrap_site_totals *inherited; /* gets the sums of these, or NULL */
};

static struct fork_line last_fork(void)
{
	const uint32_t first_own = leakwrap_sites_first_own();

	return (struct fork_line){
	        .first_own = first_own,
	        .lost_is_inherited = first_own > LEAKWRAP_SITE_FIRST &&
	                             atomic_load(&leakwrap_loss.lost_call_sites) == 0,
	};
}

#ifndef LEAKWRAP_BARE

/* Was BLOCK there before FORK? */
static bool is_inherited(const struct fork_line *fork, const struct leakwrap_live_block *block)
{
	return leakwrap_unlikely(block->site < fork->first_own) &&
	       (block->site >= LEAKWRAP_SITE_FIRST ||
	        (block->site == LEAKWRAP_SITE_LOST && fork->lost_is_inherited));
}

/* Counts BLOCK if it is inherited.  Returns whether it is to be left out. */
static bool leaves_out(const struct walk *walk, const struct leakwrap_live_block *block)
{
	if (!is_inherited(&walk->fork, block))
		return false;
	if (walk->inherited) {
		walk->inherited->inherited_bytes += block->size;
		walk->inherited->inherited_blocks++;
	}
	return walk->own;
}

#else

/* Nobody forks. */
static bool leaves_out(const struct walk *walk, const struct leakwrap_live_block *block)
{
	(void)walk, (void)block;
	return false;
}

#endif

static void add_block(void *context, const struct leakwrap_live_block *block)
{
	struct walk *walk = context;
	struct leakwrap_row *row;

	if (leaves_out(walk, block))
		return;
	/* A call site that is new since the walk began has new blocks alone: they may be left out. */
	if (block->site < walk->first || block->site - walk->first >= walk->count)
		return;
	row = &walk->rows[block->site - walk->first];
	row->site = block->site;
	row->bytes += block->size;
	row->blocks++;
}

/* Adds ROW to the totals.  Returns false if it has no blocks, or is left out. */
static bool add_row(struct leakwrap_site_totals *collection, const struct leakwrap_row *row,
                    leakwrap_site_test *skips)
{
	enum leakwrap_trace_kind kind;

	if (row->blocks == 0)
		return false;
	if (skips && skips(row->site)) {
		collection->left_out_bytes += row->bytes;
		collection->left_out_blocks += row->blocks;
		return false;
	}
	kind = row->site == LEAKWRAP_SITE_LOST ? LEAKWRAP_TRACE_TRUNCATED
	                                       : leakwrap_site_kind(row->site);
	collection->count++;
	collection->bytes += row->bytes;
	collection->blocks += row->blocks;
	collection->bytes_of_kind[kind] += row->bytes;
	collection->blocks_of_kind[kind] += row->blocks;
	return true;
}

/* Largest first; the older call site when they are equal, so that the order is always the same. */
static bool comes_before(const struct leakwrap_row *a, const struct leakwrap_row *b)
{
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes;
	if (a->blocks != b->blocks)
		return a->blocks > b->blocks;
	return a->site < b->site;
}

/* Lets the row at ROOT sink to its place in the heap of COUNT rows, whose top comes last. */
static void sink(struct leakwrap_row *rows, size_t root, size_t count)
{
	const struct leakwrap_row sinking = rows[root];

	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		if (child + 1 < count && comes_before(&rows[child], &rows[child + 1]))
			child++;
		if (!comes_before(&sinking, &rows[child]))
			break;
		rows[root] = rows[child];
	}
	rows[root] = sinking;
}

/* Heap sort: in place, and never quadratic.  (The C library's qsort allocates.) */
static void sort_in_place(struct leakwrap_row *rows, size_t count)
{
	for (size_t root = count / 2; root-- > 0;)
		sink(rows, root, count);
	for (size_t end = count; end-- > 1;) {
		const struct leakwrap_row last = rows[end];

		rows[end] = rows[0];
		rows[0] = last;
		sink(rows, 0, end);
	}
}

#ifndef LEAKWRAP_BARE

/* Of so many rows, the processor guesses too many of a heap sort's comparisons wrong. */
#define MANY 1000

/* What rows are sorted by, a byte at a time. */
static uint64_t key_of(const struct leakwrap_row *row, bool by_bytes)
{
	return by_bytes ? row->bytes : row->blocks;
}

/* Puts FROM into TO by the byte of their keys at SHIFT: the largest first, equal ones as they stand. */
static void sort_by_byte(const struct leakwrap_row *from, struct leakwrap_row *to, size_t count,
                         bool by_bytes, unsigned shift)
{
	static size_t place[256];
	size_t before = 0;

	memset(place, 0, sizeof(place));
	for (size_t i = 0; i < count; i++)
		place[key_of(&from[i], by_bytes) >> shift & 255]++;
	for (unsigned byte = 256; byte-- > 0;) {
		const size_t here = place[byte];

		place[byte] = before;
		before += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[key_of(&from[i], by_bytes) >> shift & 255]++] = from[i];
}

/* Puts ROWS, which SPARE has room for, in order by their bytes or their blocks, equal ones as they stand.  Bytes of the key in which
 * none differ need nothing.  Where they are then: ROWS or SPARE. */
static struct leakwrap_row *sort_by(struct leakwrap_row *rows, struct leakwrap_row *spare, size_t count,
                                    bool by_bytes)
{
	uint64_t differing = 0;

	for (size_t i = 1; i < count; i++)
		differing |= key_of(&rows[i], by_bytes) ^ key_of(&rows[0], by_bytes);
	for (unsigned shift = 0; shift < 64; shift += 8)
		if (differing >> shift & 255) {
			struct leakwrap_row *const sorted = spare;

			sort_by_byte(rows, sorted, count, by_bytes, shift);
			spare = rows;
			rows = sorted;
		}
	return rows;
}

/* Those of ROWS, which are in the order of their numbers, that come first in the dump come first. */
static void sort(struct leakwrap_row *rows, size_t count)
{
	struct leakwrap_row *spare = NULL, *sorted;

	if (count >= MANY)
		spare = leakwrap_scratch_map(count * sizeof(*spare));
	if (!spare) {
		sort_in_place(rows, count);
		return;
	}
	sorted = sort_by(rows, spare, count, false);
	sorted = sort_by(sorted, sorted == rows ? spare : rows, count, true);
	if (sorted != rows)
		memcpy(rows, sorted, count * sizeof(*rows));
	leakwrap_scratch_unmap(spare, count * sizeof(*spare));
}

#else

static void sort(struct leakwrap_row *rows, size_t count)
{
	sort_in_place(rows, count);
}

#endif

#ifndef LEAKWRAP_BARE
bool leakwrap_collect_may_have_own(void)
{
	const struct fork_line fork = last_fork();

	return leakwrap_sites_limit() > fork.first_own || !fork.lost_is_inherited;
}
#endif

/* A backtrace has one number from before a fork, and another one since.  Adds what stands at the
 * second to the row of the first. */
static void join_rows(struct leakwrap_row *rows, uint32_t limit)
{
	if (leakwrap_sites_first_own() == LEAKWRAP_SITE_FIRST)
		return;
	for (uint32_t number = LEAKWRAP_SITE_FIRST; number < limit; number++) {
		const uint32_t oldest = rows[number].blocks > 0 ? leakwrap_site_oldest(number) : number;

		if (oldest == number)
			continue;
		rows[oldest].site = oldest;
		rows[oldest].bytes += rows[number].bytes;
		rows[oldest].blocks += rows[number].blocks;
		rows[number].blocks = 0;
	}
}

bool leakwrap_site_totals_collect(struct leakwrap_site_totals *collection, bool own,
                                  leakwrap_site_test *skips)
{
	const uint32_t limit = leakwrap_sites_limit();
	struct walk walk = {
	        .first = 0, .count = limit, .fork = last_fork(), .own = own, .inherited = collection};

	memset(collection, 0, sizeof(*collection));
	collection->own = own;
	collection->scratch_size = limit * sizeof(walk.rows[0]);
	walk.rows = leakwrap_scratch_map(collection->scratch_size);
	if (!walk.rows)
		return false;
	leakwrap_live_each(add_block, &walk);
	join_rows(walk.rows, limit);
	collection->rows = walk.rows;
	for (uint32_t number = LEAKWRAP_SITE_LOST; number < limit; number++) {
		const struct leakwrap_row row = walk.rows[number];

		if (add_row(collection, &row, skips))
			collection->rows[collection->rows_count++] = row;
	}
	sort(collection->rows, collection->rows_count);
	return true;
}

#ifndef LEAKWRAP_BARE

#define PART 512

/* Keeps ROW among the largest; these are a heap, with the smallest of them on top, once there are as many as may be. */
static void keep_largest(struct leakwrap_site_totals *collection, const struct leakwrap_row *row)
{
	struct leakwrap_row *rows = collection->rows;

	if (collection->rows_count < LEAKWRAP_LARGEST) {
		rows[collection->rows_count++] = *row;
		if (collection->rows_count == LEAKWRAP_LARGEST)
			for (size_t root = LEAKWRAP_LARGEST / 2; root-- > 0;)
				sink(rows, root, LEAKWRAP_LARGEST);
	} else if (comes_before(row, &rows[0])) {
		rows[0] = *row;
		sink(rows, 0, LEAKWRAP_LARGEST);
	}
}

void leakwrap_site_totals_largest(struct leakwrap_site_totals *collection, bool own,
                                  leakwrap_site_test *skips)
{
	static struct leakwrap_row largest[LEAKWRAP_LARGEST], part[PART];
	const uint32_t limit = leakwrap_sites_limit();

	memset(collection, 0, sizeof(*collection));
	collection->own = own;
	collection->rows = largest;
	for (uint32_t first = LEAKWRAP_SITE_LOST; first < limit; first += PART) {
		struct walk walk = {
		        .rows = part,
		        .first = first,
		        .count = limit - first < PART ? limit - first : PART,
		        .fork = last_fork(),
		        .own = own,
		        .inherited = first == LEAKWRAP_SITE_LOST ? collection : NULL,
		};

		memset(part, 0, sizeof(part));
		leakwrap_live_each(add_block, &walk);
		for (uint32_t i = 0; i < walk.count; i++)
			if (add_row(collection, &part[i], skips))
				keep_largest(collection, &part[i]);
	}
	sort_in_place(largest, collection->rows_count);
}

#endif

void leakwrap_site_totals_release(struct leakwrap_site_totals *collection)
{
	if (collection->rows && collection->scratch_size > 0)
		leakwrap_scratch_unmap(collection->rows, collection->scratch_size);
	collection->rows = NULL;
}
