/* row_order.h - the rows of a dump, and their order.
 *
 * The row with more bytes comes first, then the row with more blocks, then the older call site.  So
 * the order is the same in each dump.
 *
 * All functions are signal-safe. */
#ifndef LEAKWRAP_ROW_ORDER_H
#define LEAKWRAP_ROW_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The live blocks of a call site. */
struct leakwrap_row {
	uint32_t site; /* LEAKWRAP_SITE_LOST stands for all blocks whose backtrace was lost */
	uint64_t bytes, blocks;
};

/* Returns whether A comes before B. */
bool leakwrap_row_is_before(const struct leakwrap_row *a, const struct leakwrap_row *b);

/* Moves the row at ROOT down to its position in the binary heap of COUNT rows.  The top of the
 * heap is the row that comes last in the dump. */
void leakwrap_rows_sink(struct leakwrap_row *rows, size_t root, size_t count);

/* Sorts COUNT ROWS with a heap sort, which needs no memory. */
void leakwrap_rows_sort_in_place(struct leakwrap_row *rows, size_t count);

/* Sorts COUNT ROWS.  They must be in the order of their call-site numbers.  One thread at a time.
 */
void leakwrap_rows_sort(struct leakwrap_row *rows, size_t count);

#endif
