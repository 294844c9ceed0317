/* row_order.c - see row_order.h. */
#include "report/row_order.h"

#include "wrap/base/common.h"
#include "wrap/port/port.h"

#include <stdbool.h>
#include <string.h>

bool leakwrap_row_is_before(const struct leakwrap_row *a, const struct leakwrap_row *b)
{
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes;
	if (a->blocks != b->blocks)
		return a->blocks > b->blocks;
	return a->site < b->site;
}

void leakwrap_rows_sink(struct leakwrap_row *rows, size_t root, size_t count)
{
	const struct leakwrap_row sinking = rows[root];

	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		if (child + 1 < count && leakwrap_row_is_before(&rows[child], &rows[child + 1]))
			child++;
		if (!leakwrap_row_is_before(&sinking, &rows[child]))
			break;
		rows[root] = rows[child];
	}
	rows[root] = sinking;
}

/* It is never quadratic.  The C library's qsort allocates. */
void leakwrap_rows_sort_in_place(struct leakwrap_row *rows, size_t count)
{
	for (size_t root = count / 2; root-- > 0;)
		leakwrap_rows_sink(rows, root, count);
	for (size_t end = count; end-- > 1;) {
		const struct leakwrap_row last = rows[end];

		rows[end] = rows[0];
		rows[0] = last;
		leakwrap_rows_sink(rows, 0, end);
	}
}

#ifndef LEAKWRAP_BARE

/* From this number of rows on a radix sort is faster: the processor mispredicts too many of a heap
 * sort's comparisons. */
#define RADIX_SORT_MIN 1000

/* Returns the sort key of ROW: its bytes or its blocks. */
static uint64_t key_of(const struct leakwrap_row *row, bool by_bytes)
{
	return by_bytes ? row->bytes : row->blocks;
}

/* Copies COUNT rows FROM to TO, sorted by the byte of their keys at SHIFT, largest first.  The
 * sort is stable. */
static void sort_by_byte(const struct leakwrap_row *from, struct leakwrap_row *to, size_t count,
                         bool by_bytes, unsigned shift)
{
	static LEAKWRAP_TABLE size_t position[256];
	size_t next = 0;

	memset(position, 0, sizeof(position));
	for (size_t i = 0; i < count; i++)
		position[key_of(&from[i], by_bytes) >> shift & 255]++;
	for (unsigned byte = 256; byte-- > 0;) {
		const size_t byte_count = position[byte];

		position[byte] = next;
		next += byte_count;
	}
	for (size_t i = 0; i < count; i++)
		to[position[key_of(&from[i], by_bytes) >> shift & 255]++] = from[i];
}

/* Sorts COUNT ROWS by their bytes or by their blocks with a radix sort, which is stable.  SPARE
 * has room for COUNT rows.  Skips the bytes of the key that are equal in all rows.  Returns the
 * array that holds the result: ROWS or SPARE. */
static struct leakwrap_row *sort_by(struct leakwrap_row *rows, struct leakwrap_row *spare,
                                    size_t count, bool by_bytes)
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

void leakwrap_rows_sort(struct leakwrap_row *rows, size_t count)
{
	struct leakwrap_row *spare = NULL, *sorted;

	if (count >= RADIX_SORT_MIN)
		spare = leakwrap_scratch_map(count * sizeof(*spare));
	if (!spare) {
		leakwrap_rows_sort_in_place(rows, count);
		return;
	}
	sorted = sort_by(rows, spare, count, false);
	sorted = sort_by(sorted, sorted == rows ? spare : rows, count, true);
	if (sorted != rows)
		memcpy(rows, sorted, count * sizeof(*rows));
	leakwrap_scratch_unmap(spare, count * sizeof(*spare));
}

#else

void leakwrap_rows_sort(struct leakwrap_row *rows, size_t count)
{
	leakwrap_rows_sort_in_place(rows, count);
}

#endif
