/* failure_writer.c - see failure_writer.h. */
#include "report/failure_writer.h"

#include "report/origin.h"
#include "wrap/fail/fail.h"
#include "wrap/fail/identity.h"
#include "wrap/site/site_read.h"
#include "wrap/site/site_table.h"
#include "wrap/unwind/trace.h"

/* Appends the identity of a call site. */
static void write_identity(struct leakwrap_writer *writer, uint64_t identity)
{
	unsigned char bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(identity >> (56 - 8 * i));
	leakwrap_write_text(writer, " identity=0x");
	leakwrap_write_bytes_hex(writer, bytes, sizeof(bytes));
}

/* Writes the number of failures, and the first of them. */
static void write_failed(struct leakwrap_writer *writer, leakwrap_write_trace *write_trace,
                         struct leakwrap_trace *trace)
{
	const uint64_t count = leakwrap_failures_count();
	struct leakwrap_failure failure;

	if (count > 0) {
		leakwrap_write_pair(writer, "injected failures=", count);
		leakwrap_write_end(writer);
	}
	for (unsigned i = 0; leakwrap_failure_read(i, &failure); i++) {
		const bool has_site = failure.site >= LEAKWRAP_SITE_FIRST;

		leakwrap_write_pair(writer, "failed ", i + 1);
		leakwrap_write_pair(writer, ": hit=", failure.hit);
		leakwrap_write_pair(writer, " bytes=", failure.size);
		write_identity(writer, has_site ? leakwrap_site_identity(failure.site) : 0);
		leakwrap_write_end(writer);
		if (has_site) {
			leakwrap_site_read(failure.site, trace);
			write_trace(trace, 0);
		}
	}
}

/* Writes the call sites that were reached. */
static void write_reached(struct leakwrap_writer *writer, leakwrap_write_trace *write_trace,
                          struct leakwrap_trace *trace)
{
	const uint32_t limit = leakwrap_sites_limit();
	struct leakwrap_reached reached;
	unsigned rank = 0;

	for (uint32_t site = LEAKWRAP_SITE_FIRST; site < limit; site++)
		if (leakwrap_fail_reached(site, &reached)) {
			leakwrap_write_pair(writer, "reached ", ++rank);
			leakwrap_write_pair(writer, ": hits=", reached.hits);
			leakwrap_write_pair(writer, " bytes=", reached.largest);
			write_identity(writer, reached.identity);
			leakwrap_site_read(site, trace);
			if (leakwrap_origin_of(trace).kind == LEAKWRAP_ORIGIN_SYSTEM)
				leakwrap_write_text(writer, " origin=system_library");
			leakwrap_write_end(writer);
			write_trace(trace, 0);
		}
}

void leakwrap_failures_write(struct leakwrap_writer *writer, leakwrap_write_trace *write_trace,
                             struct leakwrap_trace *trace)
{
	write_failed(writer, write_trace, trace);
	if (leakwrap_options.fail.choice == LEAKWRAP_FAIL_LIST)
		write_reached(writer, write_trace, trace);
}
