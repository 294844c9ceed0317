/* kinds_writer.h - finds lost memory for a dump, and writes the kinds of blocks (format.h).
 *
 * A dump calls leakwrap_kinds_find, collects its totals, and calls leakwrap_kinds_resume_threads,
 * leakwrap_kinds_write_total, leakwrap_kinds_write_site for each call site, and
 * leakwrap_kinds_end.  One thread at a time.  Signal-safe. */
#ifndef LEAKWRAP_KINDS_WRITER_H
#define LEAKWRAP_KINDS_WRITER_H

#include "report/line_writer.h"
#include "report/site_totals.h"
#include "wrap/leakwrap.h"
#include "wrap/reach/reach.h"

/* How a dump finds its kinds. */
struct leakwrap_kinds_request {
	struct leakwrap_scan scan;
	int process;       /* the process that the dump is of */
	bool is_copy;      /* the dump is written in a copy of it */
	bool is_parked;    /* the threads wait until the totals are collected */
	bool is_found;     /* leakwrap_kinds_find has returned true already */
	size_t bytes_held; /* if so: leakwrap_pages_held before that, because a scan reads tables */
	const char *error; /* why there are no kinds, or NULL */
	uint64_t started;  /* when the first thread was asked to park, or 0: when the scan began */
	uint64_t pause_ns; /* how long the copy took, in nanoseconds */
};

/* Without an operating system the linker leaves these functions out, unless the program has
 * leakwrap_bare_kinds (leakwrap_bare.h).  Without a request they must not be called then. */
#ifdef LEAKWRAP_BARE
#pragma weak leakwrap_kinds_find
#pragma weak leakwrap_kinds_resume_threads
#pragma weak leakwrap_kinds_write_total
#pragma weak leakwrap_kinds_write_site
#pragma weak leakwrap_kinds_end
#endif

/* Scans the process for REQUEST, unless that was done.  Returns false if it was given up because a
 * part of the memory cannot be read. */
bool leakwrap_kinds_find(const struct leakwrap_kinds_request *request);

/* Lets parked threads go on.  The totals have been collected. */
void leakwrap_kinds_resume_threads(const struct leakwrap_kinds_request *request);

/* Writes the line of the kinds in total, of the call sites of TOTALS, or a note why there are no
 * kinds. */
void leakwrap_kinds_write_total(struct leakwrap_writer *writer,
                                const struct leakwrap_kinds_request *request,
                                const struct leakwrap_site_totals *totals);

/* Writes the kinds of the call site SITE, as a part of its line. */
void leakwrap_kinds_write_site(struct leakwrap_writer *writer, uint32_t site);

/* Gives the memory of the scan back. */
void leakwrap_kinds_end(void);

/* Scans the process for REQUEST, and fills *COUNTERS with the kinds of all live blocks.  Parked
 * threads go on.  Returns false if the kinds are not found.  Takes the place of the functions
 * above. */
bool leakwrap_kinds_count(const struct leakwrap_kinds_request *request,
                          struct leakwrap_kind_counters *counters);

#endif
