/* estimate_writer.h - writes what a dump says beside the live bytes and blocks: how a sample stands
 * for all blocks, what was allocated so far, the peak, and what was allocated since a mark
 * (format.h).
 *
 * A dump calls leakwrap_estimates_begin, collects its totals, and calls
 * leakwrap_estimates_write_totals, leakwrap_estimates_write_site for each call site, and
 * leakwrap_estimates_end.  One thread at a time.  Signal-safe. */
#ifndef LEAKWRAP_ESTIMATE_WRITER_H
#define LEAKWRAP_ESTIMATE_WRITER_H

#include <stdbool.h>

#include "report/line_writer.h"
#include "report/site_totals.h"

#ifndef LEAKWRAP_BARE

/* Begins to read the peak, with the option peak=.  IS_CRASH: the dump is of a crash.  It has
 * no peak, because the crash may have interrupted a look at the peak. */
void leakwrap_estimates_begin(bool is_crash);

/* Stops reading the peak. */
void leakwrap_estimates_end(void);

/* Writes the lines recording, sampling, allocated, peak and mark, as far as there are any. */
void leakwrap_estimates_write_totals(struct leakwrap_writer *writer,
                                     const struct leakwrap_site_totals *totals);

/* Appends what is known of the call site SITE of TOTALS to its line. */
void leakwrap_estimates_write_site(struct leakwrap_writer *writer,
                                   const struct leakwrap_site_totals *totals, uint32_t site);

#else

static inline void leakwrap_estimates_begin(bool is_crash)
{
	(void)is_crash;
}

static inline void leakwrap_estimates_end(void)
{
}

static inline void leakwrap_estimates_write_totals(struct leakwrap_writer *writer,
                                                   const struct leakwrap_site_totals *totals)
{
	(void)writer, (void)totals;
}

static inline void leakwrap_estimates_write_site(struct leakwrap_writer *writer,
                                                 const struct leakwrap_site_totals *totals,
                                                 uint32_t site)
{
	(void)writer, (void)totals, (void)site;
}

#endif

#endif
