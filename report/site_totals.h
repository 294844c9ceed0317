/* site_totals.h - adds up the live blocks by call site.  Reads the tables without a lock, while other threads
 * change them; signal-safe. */
#ifndef LEAKWRAP_SITE_TOTALS_H
#define LEAKWRAP_SITE_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/site/site_table.h"

/* The live blocks of a call site. */
struct leakwrap_row {
	uint32_t site; /* LEAKWRAP_SITE_LOST: that of the blocks whose backtrace was lost */
	uint64_t bytes, blocks;
};

struct leakwrap_site_totals {
	struct leakwrap_row *rows; /* with live blocks; largest first */
	size_t rows_count;
	size_t count; /* of call sites with live blocks; may be more */
	uint64_t bytes, blocks;
	uint64_t blocks_of_kind[3], bytes_of_kind[3]; /* by enum leakwrap_trace_kind */
	uint64_t left_out_bytes, left_out_blocks;     /* in none of the above */
	/* In a forked child, the live blocks from before the fork; see OWN. */
	uint64_t inherited_bytes, inherited_blocks;
	bool own; /* all other numbers and the rows are those of blocks from after the fork */
	size_t scratch_size;
};

/* Says whether the blocks of the call site SITE are left out. */
typedef bool leakwrap_site_test(uint32_t site);

/* Fills COLLECTION with all live blocks; OWN: with those that the process has allocated since it
 * was forked.  SKIPS is asked once for each call site with live blocks; NULL: nothing is left out.
 * Returns false if there is no memory: then COLLECTION is empty. */
bool leakwrap_site_totals_collect(struct leakwrap_site_totals *collection, bool own,
                                  leakwrap_site_test *skips);

/* Returns whether the process may have live blocks that it has allocated since it was forked.
 * Takes no time. */
bool leakwrap_collect_may_have_own(void);

/* The same without memory: there are rows for the LEAKWRAP_LARGEST largest call sites alone, and it takes a walk through all live blocks
 * for every few hundred call sites.  By one thread at a time. */
#define LEAKWRAP_LARGEST 128
void leakwrap_site_totals_largest(struct leakwrap_site_totals *collection, bool own,
                                  leakwrap_site_test *skips);

/* Gives back its memory. */
void leakwrap_site_totals_release(struct leakwrap_site_totals *collection);

#endif
