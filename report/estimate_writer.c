/* estimate_writer.c - see estimate_writer.h. */
#include "report/estimate_writer.h"

#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/site/site_allocated.h"
#include "wrap/site/site_peak.h"
#include "wrap/site/site_mark.h"

/* The peak, while a dump reads it. */
static struct {
	bool is_read;
	struct leakwrap_peak all;
	int64_t time; /* seconds since 1970 */
} reading;

/* Writes how many blocks were observed, and the standard error of the live bytes. */
static void write_estimate(struct leakwrap_writer *writer, const char *sampled, const char *error,
                           const struct leakwrap_estimate *estimate)
{
	leakwrap_write_pair(writer, sampled, estimate->sampled_blocks);
	leakwrap_write_pair(writer, error,
	                    leakwrap_square_root(estimate->variance_high, estimate->variance_low));
}

/* Writes the blocks and bytes that were allocated so far. */
static void write_allocated(struct leakwrap_writer *writer, struct leakwrap_allocated allocated)
{
	leakwrap_write_pair(writer, " allocated_bytes=", allocated.bytes);
	leakwrap_write_pair(writer, " allocated_blocks=", leakwrap_whole_blocks(allocated.blocks));
	leakwrap_write_pair(writer,
	                    " temporary_blocks=", leakwrap_whole_blocks(allocated.temporary));
}

/* Writes the lines about what is recorded, if not all was, about sampling, if blocks were sampled,
 * and about what was allocated, if that is counted. */
static void write_sampling(struct leakwrap_writer *writer, const struct leakwrap_site_totals *all)
{
	if (leakwrap_has_gaps()) {
		leakwrap_write_text(writer, "recording state=");
		leakwrap_write_text(writer, leakwrap_sampling_interval() == LEAKWRAP_SAMPLE_OFF
		                                    ? "off"
		                            : leakwrap_is_recording_all() ? "all"
		                                                          : "sample");
		leakwrap_write_text(writer, " since=");
		leakwrap_write_time(writer, leakwrap_sampling_since());
		leakwrap_write_text(writer, leakwrap_has_been_off() ? " missing=possible"
		                                                    : " missing=none");
		leakwrap_write_end(writer);
	}
	if (leakwrap_last_interval() != 0) {
		leakwrap_write_pair(writer, "sampling sample_interval=", leakwrap_last_interval());
		write_estimate(writer, " sampled_blocks=", " live_bytes_error=", &all->estimate);
		leakwrap_write_end(writer);
	}
	if (leakwrap_counts_allocated()) {
		leakwrap_write_text(writer, "allocated");
		write_allocated(writer, leakwrap_sites_allocated());
		leakwrap_write_end(writer);
	}
}

/* Writes BYTES and BLOCKS of the peak. */
static void write_peak_pairs(struct leakwrap_writer *writer, struct leakwrap_peak peak)
{
	leakwrap_write_pair(writer, " peak_bytes=", peak.bytes);
	leakwrap_write_pair(writer, " peak_blocks=", peak.blocks);
}

/* Writes the line about the peak, with the option peak=. */
static void write_peak(struct leakwrap_writer *writer)
{
	if (!reading.is_read)
		return;
	leakwrap_write_text(writer, "peak");
	write_peak_pairs(writer, reading.all);
	leakwrap_write_text(writer, " peak_time=");
	leakwrap_write_time(writer, reading.time);
	leakwrap_write_end(writer);
}

/* Writes BYTES and BLOCKS from after the mark. */
static void write_since_pairs(struct leakwrap_writer *writer, struct leakwrap_since since)
{
	leakwrap_write_pair(writer, " since_mark_bytes=", since.bytes);
	leakwrap_write_pair(writer, " since_mark_blocks=", since.blocks);
}

/* Writes the line about the mark, if there is one. */
static void write_mark(struct leakwrap_writer *writer, const struct leakwrap_site_totals *all)
{
	if (!all->since_mark)
		return;
	leakwrap_write_text(writer, "mark");
	write_since_pairs(writer, all->all_since_mark);
	leakwrap_write_text(writer, " mark_time=");
	leakwrap_write_time(writer, leakwrap_sites_mark_time());
	leakwrap_write_end(writer);
}

void leakwrap_estimates_begin(bool is_crash)
{
	reading.is_read = leakwrap_options.peak && !is_crash;
	if (!reading.is_read)
		return;
	leakwrap_peak_update();
	reading.all = leakwrap_peak_begin_reading(&reading.time);
}

void leakwrap_estimates_end(void)
{
	if (reading.is_read)
		leakwrap_peak_end_reading();
}

void leakwrap_estimates_write_totals(struct leakwrap_writer *writer,
                                     const struct leakwrap_site_totals *totals)
{
	write_sampling(writer, totals);
	write_peak(writer);
	write_mark(writer, totals);
}

void leakwrap_estimates_write_site(struct leakwrap_writer *writer,
                                   const struct leakwrap_site_totals *totals, uint32_t site)
{
	if (totals->estimates)
		write_estimate(writer, " sampled=", " error=", &totals->estimates[site]);
	if (leakwrap_counts_allocated())
		write_allocated(writer, leakwrap_site_allocated(site));
	if (reading.is_read)
		write_peak_pairs(writer, leakwrap_site_peak(site));
	if (totals->since_mark)
		write_since_pairs(writer, totals->since_mark[site]);
}
