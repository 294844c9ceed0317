/* kinds_writer.c - see kinds_writer.h.  format.h describes the lines. */
#include "report/kinds_writer.h"

#include "wrap/port/port.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_table.h"

#include <string.h>

static const char *const names[LEAKWRAP_KIND_COUNT] = {
        [LEAKWRAP_DEFINITE] = "definite",   [LEAKWRAP_INDIRECT] = "indirect",
        [LEAKWRAP_POSSIBLE] = "possible",   [LEAKWRAP_REACHABLE] = "reachable",
        [LEAKWRAP_OWN_INDIRECT] = "within",
};

static struct {
	struct leakwrap_kinds *by_site; /* NULL: there are no kinds */
	const char *error;              /* why there are none */
	uint32_t sites;
	uint64_t scan_ns, pause_ns, started;
} found;

static void add(struct leakwrap_kinds *sum, const struct leakwrap_kinds *kinds)
{
	for (unsigned kind = 0; kind < LEAKWRAP_KIND_COUNT; kind++) {
		sum->bytes[kind] += kinds->bytes[kind];
		sum->blocks[kind] += kinds->blocks[kind];
	}
}

/* Adds up the kinds of equal backtraces, as the rows of the dump are (site_totals.c). */
static void join_kinds(void)
{
	const struct leakwrap_used_groups used = leakwrap_reach_used(found.by_site, found.sites);

	if (leakwrap_sites_are_unique())
		return;
	for (uint32_t number = leakwrap_next_used(&used, LEAKWRAP_SITE_FIRST); number < found.sites;
	     number = leakwrap_next_used(&used, number + 1)) {
		struct leakwrap_kinds *const kinds = &found.by_site[number];
		uint64_t blocks = 0;
		uint32_t oldest;

		for (unsigned kind = 0; kind < LEAKWRAP_KIND_COUNT; kind++)
			blocks += kinds->blocks[kind];
		oldest = blocks > 0 ? leakwrap_site_oldest(number) : number;
		if (oldest == number)
			continue;
		leakwrap_note_use(&used, oldest);
		add(&found.by_site[oldest], kinds);
		memset(kinds, 0, sizeof(*kinds));
	}
}

bool leakwrap_kinds_find(const struct leakwrap_kinds_request *request)
{
	if (request->is_found)
		return true;
	found.by_site = NULL;
	found.error = request->error;
	if (found.error)
		return true;
	found.started = leakwrap_time_monotonic();
	found.sites = leakwrap_sites_limit();
	found.by_site = leakwrap_reach_scan(&request->scan, found.sites, &found.error);
	if (found.by_site)
		join_kinds();
	found.scan_ns = leakwrap_time_monotonic() - found.started;
	found.pause_ns = request->pause_ns;
	return found.by_site || found.error != leakwrap_reach_unreadable;
}

void leakwrap_kinds_resume_threads(const struct leakwrap_kinds_request *request)
{
	if (!request->is_parked)
		return;
	leakwrap_unpark();
	found.pause_ns = leakwrap_time_monotonic() -
	                 (request->started != 0 ? request->started : found.started);
}

static void write_reason(struct leakwrap_writer *writer)
{
	leakwrap_write_text(writer, "note lost memory is not told from reachable memory: ");
	leakwrap_write_text(writer, found.error);
	leakwrap_write_end(writer);
}

void leakwrap_kinds_write_total(struct leakwrap_writer *writer,
                                const struct leakwrap_kinds_request *request,
                                const struct leakwrap_site_totals *totals)
{
	struct leakwrap_kinds sum = {.bytes = {0}};

	if (!found.by_site) {
		write_reason(writer);
		return;
	}
	for (size_t i = 0; i < totals->rows_count; i++)
		add(&sum, &found.by_site[totals->rows[i].site]);
	leakwrap_write_text(writer, "kinds");
	for (unsigned kind = 0; kind <= LEAKWRAP_REACHABLE; kind++) {
		leakwrap_write_text(writer, " ");
		leakwrap_write_text(writer, names[kind]);
		leakwrap_write_pair(writer, "_bytes=", sum.bytes[kind]);
		leakwrap_write_text(writer, " ");
		leakwrap_write_text(writer, names[kind]);
		leakwrap_write_pair(writer, "_blocks=", sum.blocks[kind]);
	}
	leakwrap_write_pair(writer, " pause_ns=", found.pause_ns);
	leakwrap_write_pair(writer, " scan_ns=", found.scan_ns);
	leakwrap_write_text(writer, request->is_copy ? " scanned=copy" : " scanned=in_place");
	leakwrap_write_text(writer, request->scan.is_heap_known ? " heap=known" : " heap=part");
	leakwrap_write_pair(writer, " running_threads=", request->scan.running_threads);
	leakwrap_write_end(writer);
}

void leakwrap_kinds_write_site(struct leakwrap_writer *writer, uint32_t site)
{
	if (!found.by_site || site >= found.sites)
		return;
	for (unsigned kind = 0; kind < LEAKWRAP_KIND_COUNT; kind++) {
		const struct leakwrap_kinds *const of = &found.by_site[site];

		if (of->blocks[kind] == 0)
			continue;
		leakwrap_write_text(writer, " ");
		leakwrap_write_text(writer, names[kind]);
		leakwrap_write_pair(writer, "=", of->bytes[kind]);
		leakwrap_write_pair(writer, "/", of->blocks[kind]);
	}
}

void leakwrap_kinds_end(void)
{
	leakwrap_reach_release(found.by_site, found.sites);
	found.by_site = NULL;
}

bool leakwrap_kinds_count(const struct leakwrap_kinds_request *request,
                          struct leakwrap_kind_counters *counters)
{
	struct leakwrap_kinds sum = {.bytes = {0}};
	struct leakwrap_used_groups used;

	leakwrap_kinds_find(request);
	leakwrap_kinds_resume_threads(request);
	if (!found.by_site)
		return false;
	used = leakwrap_reach_used(found.by_site, found.sites);
	for (uint32_t site = leakwrap_next_used(&used, LEAKWRAP_SITE_LOST); site < found.sites;
	     site = leakwrap_next_used(&used, site + 1))
		add(&sum, &found.by_site[site]);
	leakwrap_kinds_end();
	*counters = (struct leakwrap_kind_counters){
	        .definite_bytes = sum.bytes[LEAKWRAP_DEFINITE],
	        .definite_blocks = sum.blocks[LEAKWRAP_DEFINITE],
	        .indirect_bytes = sum.bytes[LEAKWRAP_INDIRECT],
	        .indirect_blocks = sum.blocks[LEAKWRAP_INDIRECT],
	        .possible_bytes = sum.bytes[LEAKWRAP_POSSIBLE],
	        .possible_blocks = sum.blocks[LEAKWRAP_POSSIBLE],
	        .reachable_bytes = sum.bytes[LEAKWRAP_REACHABLE],
	        .reachable_blocks = sum.blocks[LEAKWRAP_REACHABLE],
	        .pause_ns = found.pause_ns,
	};
	return true;
}
