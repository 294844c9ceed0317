/* site_totals.h - adds up the live blocks by call site.
 *
 * All functions are signal-safe.  They read the tables without a lock, while other threads change
 * them. */
#ifndef LEAKWRAP_SITE_TOTALS_H
#define LEAKWRAP_SITE_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/row_order.h"

/* What is known of a sum of live bytes that was estimated from a sample (sampling.h). */
struct leakwrap_estimate {
	uint64_t sampled_blocks; /* that were observed; they stand for more */
	uint64_t blocks;         /* with LEAKWRAP_WEIGHT_BITS fractional bits */
	/* The variance of the live bytes: HIGH * 2^64 + LOW. */
	uint64_t variance_low, variance_high;
};

/* The live blocks that were allocated since the mark. */
struct leakwrap_since {
	uint64_t bytes, blocks;
};

struct leakwrap_site_totals {
	/* Call sites with live blocks; largest first.  After them come those that have allocated
	 * and freed, if that is known (leakwrap_counts_allocated, leakwrap_site_peak). */
	struct leakwrap_row *rows;
	size_t rows_count;
	size_t count; /* call sites with live blocks; may be more than there are rows */
	uint64_t bytes, blocks;
	uint64_t blocks_of_kind[3], bytes_of_kind[3]; /* by enum leakwrap_trace_kind */
	/* The blocks of skipped call sites.  The numbers above do not include them. */
	uint64_t left_out_bytes, left_out_blocks;
	/* In a forked child, the live blocks from before the fork. */
	uint64_t inherited_bytes, inherited_blocks;
	/* All other numbers and the rows include only blocks from after the fork. */
	bool own;
	size_t scratch_size; /* bytes that are mapped for the rows; 0: they are not mapped */
	/* Only while blocks are sampled.  The rows have live bytes and blocks as estimated. */
	struct leakwrap_estimate *estimates; /* by call-site number; NULL: not known */
	size_t estimates_size;               /* bytes that are mapped for them */
	struct leakwrap_estimate estimate;   /* of all rows and those that are missing */
	/* Only after leakwrap_sites_mark: what was allocated since.  By call-site number, and of
	 * all rows; NULL: not known. */
	struct leakwrap_since *since_mark;
	size_t since_mark_size; /* bytes that are mapped */
	struct leakwrap_since all_since_mark;
};

/* Returns whether the blocks of the call site SITE are left out. */
typedef bool leakwrap_site_test(uint32_t site);

/* Fills TOTALS from all live blocks.  OWN: only from the blocks that the process has allocated
 * since it was forked.  Calls IS_SKIPPED once for each call site with live blocks, and leaves out
 * those for which it returns true; NULL: leaves out none.  Returns false, and leaves TOTALS empty,
 * if there is no memory.  After success the caller calls leakwrap_site_totals_release; for empty
 * TOTALS that does nothing. */
bool leakwrap_site_totals_collect(struct leakwrap_site_totals *totals, bool own,
                                  leakwrap_site_test *is_skipped);

/* Returns whether the process may have live blocks that it has allocated since it was forked.  Does
 * not read the live table. */
bool leakwrap_has_own_sites(void);

#define LEAKWRAP_LARGEST 128

/* Fills TOTALS as leakwrap_site_totals_collect does, but needs no memory.  There are rows for the
 * LEAKWRAP_LARGEST largest call sites alone.  It walks through all live blocks once for as many
 * call sites as there is memory for, and at least for 512.  The rows are static: one thread at a
 * time. */
void leakwrap_site_totals_largest(struct leakwrap_site_totals *totals, bool own,
                                  leakwrap_site_test *is_skipped);

/* Unmaps the rows of TOTALS. */
void leakwrap_site_totals_release(struct leakwrap_site_totals *totals);

#endif
