/* text_dump.c - one dump in the report for people, see text_page.h. */
#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/text.h"
#include "tools/model/kinds.h"
#include "tools/model/merge.h"
#include "tools/model/totals.h"
#include "tools/render/text_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTERS_PER_LINE = 4 };

/* Writes the cause of the crash, its stack and the registers. */
static void put_crash(struct page *page, const struct dump *dump)
{
	const struct crash *crash = dump->crash;
	const struct fault *fault = &crash->fault;
	size_t widest = 0;

	set_tone(page, TONE_ALERT);
	fputs("  died of ", page->stream);
	put_text(page->stream, fault_text(&page->scratch, fault));
	putc('\n', page->stream);
	set_tone(page, TONE_PLAIN);
	put_frames(page, crash->stack, 0);
	arena_reset(&page->scratch);
	for (size_t i = 0; i < fault->register_count; i++)
		if (strlen(fault->registers[i].name) > widest)
			widest = strlen(fault->registers[i].name);
	/* "name 0x0123456789abcdef  " */
	size_t per_line = REGISTERS_PER_LINE, column = widest + 1 + 18 + 2;
	while (page->style->width && per_line > 1 &&
	       FRAME_INDENT - 2 + per_line * column > page->style->width)
		per_line--;
	for (size_t i = 0; i < fault->register_count; i++) {
		const struct machine_register *r = &fault->registers[i];
		bool last = i % per_line == per_line - 1 || i == fault->register_count - 1;
		fprintf(page->stream, "%*s", i % per_line ? 2 : FRAME_INDENT, "");
		fprintf(page->stream, "%*s", (int)(widest - strlen(r->name)), "");
		fputs(r->name, page->stream);
		fprintf(page->stream, last ? " 0x%" PRIx64 "\n" : " 0x%-16" PRIx64, r->value);
	}
	putc('\n', page->stream);
}

/* Writes the modules whose symbols could not be used or verified. */
static void put_modules(struct page *page, const struct dump *dump)
{
	static const char *const states[] = {
	        [MODULE_UNREAD] = NULL,
	        [MODULE_VERIFIED] = NULL,
	        [MODULE_UNVERIFIED] = "not verified, the dump has no build-id",
	        [MODULE_MISMATCH] = "left raw, another build was found",
	        [MODULE_MISSING] = "left raw, no file was found",
	};
	for (size_t i = 0; i < dump->mapping_count; i++) {
		const struct module *module = dump->mappings[i].module;
		if (!states[module->state])
			continue;
		fputs("  module ", page->stream);
		put_text(page->stream, module->path);
		fprintf(page->stream, ": %s\n", states[module->state]);
	}
}

void put_misuse(struct page *page, const struct dump *dump)
{
	const struct misused *misused = dump->misuse;
	const char *heads[MISUSE_STACKS] = {
	        [MISUSE_OFFENDER] = misuse_text(&page->scratch, &misused->misuse),
	        [MISUSE_RELEASE] = "released before",
	        [MISUSE_BLOCK] = misuse_block_text(&page->scratch, &misused->misuse),
	};

	for (unsigned i = 0; i < MISUSE_STACKS; i++) {
		if (!misused->stacks[i] && i != MISUSE_OFFENDER)
			continue;
		set_tone(page, i == MISUSE_OFFENDER ? TONE_ALERT : TONE_STRONG);
		fputs("  ", page->stream);
		put_text(page->stream, heads[i]);
		putc('\n', page->stream);
		set_tone(page, TONE_PLAIN);
		if (misused->stacks[i])
			put_frames(page, misused->stacks[i], 0);
	}
	put_modules(page, dump);
}

/* Writes what was allocated so far, and what of the live blocks since the mark. */
static void put_allocation(struct page *page, const struct dump *dump)
{
	const struct totals *totals = &dump->totals;
	const struct estimate *estimate = &totals->estimate;

	if (estimate->allocated_bytes >= 0 && estimate->allocated_blocks >= 0) {
		fprintf(page->stream, "  allocated %s: %s in %s", when_allocated(totals),
		        counted(page, (uint64_t)estimate->allocated_bytes, "byte"),
		        counted(page, (uint64_t)estimate->allocated_blocks, "block"));
		put_temporary(page, estimate);
		putc('\n', page->stream);
	}
	if (estimate->since_mark_bytes < 0 || estimate->since_mark_blocks < 0)
		return;
	fputs(dump->merged ? "  of these since each process's mark" : "  of these since the mark",
	      page->stream);
	put_span(page, dump->merged ? dump->merged->first_mark_time : NULL, totals->mark_time);
	fprintf(page->stream, " %s in %s\n",
	        counted(page, (uint64_t)estimate->since_mark_bytes, "byte"),
	        counted(page, (uint64_t)estimate->since_mark_blocks, "block"));
}

static void put_totals(struct page *page, const struct dump *dump)
{
	const struct totals *totals = &dump->totals;
	if (totals->live_bytes < 0 || totals->live_blocks < 0) {
		fputs("  its totals are missing\n", page->stream);
		return;
	}
	set_tone(page, TONE_STRONG);
	fprintf(page->stream, "  %s", counted(page, (uint64_t)totals->live_bytes, "byte"));
	set_tone(page, TONE_PLAIN);
	if (totals->live_bytes >= 1024)
		fprintf(page->stream, " (%s)", with_unit((uint64_t)totals->live_bytes));
	fprintf(page->stream, dump->kinds ? " shown in %s" : " live in %s",
	        counted(page, (uint64_t)totals->live_blocks, "block"));
	if (totals->call_sites >= 0)
		fprintf(page->stream, " at %s",
		        counted(page, (uint64_t)totals->call_sites, "call site"));
	putc('\n', page->stream);
	put_recording(page, totals);
	put_allocation(page, dump);
	if (totals->inherited && totals->inherited_bytes >= 0 && totals->inherited_blocks > 0)
		fprintf(page->stream, "  %s from before the fork: %s in %s\n",
		        strcmp(totals->inherited, "included") == 0 ? "of these" : "left out",
		        counted(page, (uint64_t)totals->inherited_bytes, "byte"),
		        counted(page, (uint64_t)totals->inherited_blocks, "block"));
	if (dump->suppressed_sites)
		fprintf(page->stream, "  of these suppressed: %s in %s%s%s\n",
		        counted(page, dump->suppressed_bytes, "byte"),
		        counted(page, dump->suppressed_blocks, "block"), dump->merged ? "" : " at ",
		        dump->merged ? "" : counted(page, dump->suppressed_sites, "call site"));
}

/* Says whose code allocated, if it is not the program's. */
static void put_origin(struct page *page, const struct site *site)
{
	if (site->origin == ORIGIN_SYSTEM) {
		fputs(", by a system library", page->stream);
	} else if (site->origin == ORIGIN_LIBRARY) {
		fputs(", by ", page->stream);
		put_text(page->stream,
		         site->library ? base_name(site->library->path) : "a library");
	}
}

/* Returns the number of call sites of DUMP with live blocks.  Those that have allocated and freed
 * may come after them. */
static size_t live_site_count(const struct dump *dump)
{
	size_t count = dump->site_count;
	while (count > 0 && dump->sites[count - 1].blocks == 0 &&
	       (dump->sites[count - 1].estimate.allocated_blocks >= 0 ||
	        dump->sites[count - 1].estimate.peak_blocks >= 0))
		count--;
	return count;
}

/* Writes what the call sites without live blocks have allocated. */
static void put_freed_sites(struct page *page, const struct dump *dump, size_t live)
{
	uint64_t bytes = 0, blocks = 0;
	if (dump->totals.estimate.allocated_blocks < 0)
		return;
	for (size_t i = live; i < dump->site_count; i++) {
		add_up(&bytes, (uint64_t)dump->sites[i].estimate.allocated_bytes);
		add_up(&blocks, (uint64_t)dump->sites[i].estimate.allocated_blocks);
	}
	if (live < dump->site_count)
		fprintf(page->stream, "\n  %s without live blocks %s allocated %s in %s\n",
		        counted(page, dump->site_count - live, "call site"),
		        dump->site_count - live == 1 ? "has" : "have", counted(page, bytes, "byte"),
		        counted(page, blocks, "block"));
}

/* Writes what the call site of SPREAD gained over SERIES, the number of processes with several
 * dumps.  A call site that loses memory may shrink all the same. */
static void put_gain(struct page *page, const struct spread *spread, size_t series)
{
	const int64_t gained = spread->gained_bytes;
	const uint64_t bytes = gained < 0 ? -(uint64_t)gained : (uint64_t)gained;
	const char *by = gained < 0 ? "shrank by" : "grew by";

	fputs("      ", page->stream);
	if (spread->steady_bytes > 0)
		fprintf(page->stream, "grew steadily by %s, ",
		        counted(page, (uint64_t)spread->steady_bytes, "byte"));
	else if (gained > 0)
		fputs("grew by bursts, ", page->stream);
	if (gained > 0 || (gained == 0 && spread->steady_bytes > 0))
		by = "by";
	fprintf(page->stream, "%s %s in all, %sin %s of %s\n", by, counted(page, bytes, "byte"),
	        gained < 0 ? "grew " : "", with_commas(spread->grew_in),
	        counted(page, series, "process"));
}

/* Writes how SITE of the sum DUMP spreads over the processes. */
static void put_spread(struct page *page, const struct dump *dump, const struct site *site)
{
	const struct spread *spread = site->spread;
	const struct merged *merged = dump->merged;

	if (merged->by_growth && spread->lost_gained_bytes > 0)
		fprintf(page->stream, "      loses %s%s\n",
		        counted(page,
		                (uint64_t)(spread->lost_steady_bytes > 0
		                                   ? spread->lost_steady_bytes
		                                   : spread->lost_gained_bytes),
		                "byte"),
		        spread->lost_steady_bytes > 0 ? " steadily" : ", not steadily");
	if (merged->by_growth)
		put_gain(page, spread, merged->series);
	if (spread->processes < 2)
		return;
	set_tone(page, TONE_FAINT);
	fprintf(page->stream, "      from %s to %s each, %s on average", with_unit(spread->least),
	        with_unit(spread->most), with_unit(site->bytes / spread->processes));
	if (spread->most > spread->least) {
		fprintf(page->stream, "; most in process %lu of ", spread->most_in->pid);
		put_text(page->stream, spread->most_in->log);
	}
	putc('\n', page->stream);
	set_tone(page, TONE_PLAIN);
}

/* Returns how many live blocks of DUMP have no kind. */
static uint64_t untold_blocks_of(const struct dump *dump)
{
	uint64_t untold = 0;

	for (size_t i = 0; i < dump->site_count; i++)
		add_up(&untold, untold_blocks(dump, &dump->sites[i]));
	return untold;
}

/* Writes the kinds of all live blocks of DUMP, lost ones first: none if no block has a kind. */
static void put_kinds(struct page *page, const struct dump *dump)
{
	const struct reach_sums *reach = &dump->totals.reach;
	uint64_t untold, told = 0;

	if (!reach->is_known)
		return;
	untold = untold_blocks_of(dump);
	for (unsigned kind = 0; kind < REACHES; kind++)
		add_up(&told, reach->blocks[kind]);
	for (unsigned kind = 0; kind < REACHES && (told || !untold); kind++) {
		if (dump->kinds && !(dump->kinds >> kind & 1))
			continue;
		set_tone(page,
		         kind == REACH_DEFINITE && reach->blocks[kind] ? TONE_ALERT : TONE_PLAIN);
		fprintf(page->stream, "  %s: %s", kind_texts[kind],
		        counted(page, reach->bytes[kind], "byte"));
		fprintf(page->stream, " in %s\n", counted(page, reach->blocks[kind], "block"));
	}
	set_tone(page, TONE_PLAIN);
	if (untold)
		fprintf(page->stream, "  of unknown kind: %s\n", counted(page, untold, "block"));
	if (dump->merged && dump->merged->with_kinds < dump->merged->dumps)
		fprintf(page->stream, "  (%s of %s tell lost from reachable memory)\n",
		        with_commas(dump->merged->with_kinds),
		        counted(page, dump->merged->dumps, "process"));
}

/* Writes which share of the live bytes of DUMP there are in BYTES. */
static void put_share(struct page *page, const struct dump *dump, uint64_t bytes)
{
	if (dump->totals.live_bytes > 0)
		fprintf(page->stream, ", %.1f %%",
		        100.0 * (double)bytes / (double)dump->totals.live_bytes);
}

/* Writes how much SITE of DUMP holds, by kind: lost memory first. */
static void put_site_bytes(struct page *page, const struct dump *dump, const struct site *site)
{
	static const enum reach order[] = {REACH_DEFINITE, REACH_POSSIBLE, REACH_WITHIN,
	                                   REACH_REACHABLE};
	const struct reach_sums *reach = &site->reach;
	bool is_first = true;

	if (!reach->is_known || site->blocks == 0 || untold_blocks(dump, site)) {
		set_tone(page, TONE_STRONG);
		fputs(counted(page, site->bytes, "byte"), page->stream);
		set_tone(page, TONE_PLAIN);
		fprintf(page->stream, " in %s", counted(page, site->blocks, "block"));
		put_share(page, dump, site->bytes);
		is_first = false;
	}
	for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
		const enum reach kind = order[i];
		const uint64_t blocks =
		        kind == REACH_DEFINITE ? lost_blocks(reach) : reach->blocks[kind];
		/* What the call site's own lost blocks lead to is told with them. */
		if (blocks == 0 ||
		    (kind == REACH_WITHIN && blocks <= reach->blocks[REACH_INDIRECT]))
			continue;
		fputs(is_first ? "" : ", ", page->stream);
		set_tone(page, is_first ? TONE_STRONG : TONE_PLAIN);
		put_kind(page, reach, kind);
		set_tone(page, TONE_PLAIN);
		/* Indirectly lost blocks are in the share of the block that leads to them. */
		if (is_first && kind != REACH_WITHIN)
			put_share(page, dump,
			          kind == REACH_DEFINITE ? lost_bytes(reach) : reach->bytes[kind]);
		is_first = false;
	}
}

/* Compares two call sites for the order of the text: what is lost comes first, then most bytes. */
static int compare_sites(const void *left, const void *right)
{
	const struct site *a = *(const struct site *const *)left;
	const struct site *b = *(const struct site *const *)right;
	int first = compare_lost(&a->reach, &b->reach);

	if (first)
		return first;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Returns the call sites of DUMP in the order of the text.  The caller frees the array. */
static const struct site **sorted_sites(const struct dump *dump, size_t count)
{
	const struct site **sites = xmalloc((count + 1) * sizeof *sites);

	for (size_t i = 0; i < count; i++)
		sites[i] = &dump->sites[i];
	if (dump->totals.reach.is_known && count && !(dump->merged && dump->merged->by_growth))
		qsort(sites, count, sizeof *sites, compare_sites);
	return sites;
}

static void put_sites(struct page *page, const struct dump *dump, unsigned top)
{
	const size_t live = live_site_count(dump);
	const struct site **sites = sorted_sites(dump, live);

	for (size_t i = 0; i < live; i++) {
		const struct site *site = sites[i];
		if (top && i == top) {
			leave_out(page, live - i, "call site");
			break;
		}
		fprintf(page->stream, "\n  #%" PRIu64 " ", site->rank);
		put_site_bytes(page, dump, site);
		if (dump->merged)
			fprintf(page->stream, ", in %s of %s", with_commas(site->processes),
			        counted(page, dump->merged->dumps, "process"));
		if (dump->merged && dump->merged->hosts)
			fprintf(page->stream, " on %s of %s", with_commas(site->spread->hosts),
			        counted(page, dump->merged->hosts, "host"));
		put_stack_kind(page, site);
		if (site->task) {
			fputs(", task ", page->stream);
			put_text(page->stream, site->task);
		}
		put_origin(page, site);
		if (site->estimate.since_mark_bytes > 0)
			fprintf(page->stream, ", %s since the mark",
			        counted(page, (uint64_t)site->estimate.since_mark_bytes, "byte"));
		if (site->estimate.live_bytes_error > 0 && site->bytes > 0)
			fprintf(page->stream, ", standard error %.1f %%",
			        100.0 * (double)site->estimate.live_bytes_error /
			                (double)site->bytes);
		putc('\n', page->stream);
		if (dump->merged)
			put_spread(page, dump, site);
		put_stack(page, site->stack);
	}
	free(sites);
	put_freed_sites(page, dump, live);
	put_peak(page, dump, top);
	put_allocated(page, dump, top);
	int64_t bytes = hidden_bytes(dump), blocks = hidden_blocks(dump);
	if (bytes || blocks)
		fprintf(page->stream, "\n  %s in %s at call sites that the dump does not show\n",
		        counted(page, (uint64_t)bytes, "byte"),
		        counted(page, (uint64_t)blocks, "block"));
}

/* Writes a line about NUMBER things that the totals do not count, unless there are none. */
static void put_loss(struct page *page, int64_t number, const char *noun, const char *what)
{
	if (number > 0)
		fprintf(page->stream, "  %s %s\n", counted(page, (uint64_t)number, noun), what);
}

/* Says why a module passes the tracer by, from the word of the dump. */
static const char *bypass_text(const char *reason)
{
	if (strcmp(reason, "libc_name") == 0)
		return "it calls __libc_malloc or a relative";
	if (strcmp(reason, "other_name") == 0)
		return "it allocates by other names than malloc, such as mallocx";
	return strcmp(reason, "namespace") == 0 ? "dlmopen" : "it has another malloc";
}

/* Says which part of the process the dump shows. */
static void put_coverage(struct page *page, const struct dump *dump)
{
	if (!dump->coverage)
		return;
	fputs(strcmp(dump->coverage, "process") == 0
	              ? "  coverage: the whole process, libraries included\n"
	              : "  coverage: the program's own calls, not those of shared libraries\n",
	      page->stream);
	for (size_t i = 0; i < dump->bypass_count; i++) {
		const struct bypass *bypass = &dump->bypasses[i];
		fputs("  not covered: ", page->stream);
		put_text(page->stream,
		         bypass->path ? bypass->path : "a module of another namespace");
		fprintf(page->stream, " (%s)\n", bypass_text(bypass->reason));
	}
}

/* Says how lost memory was told from reachable memory. */
static void put_scan(struct page *page, const struct totals *totals)
{
	if (!totals->reach.is_known || !totals->scanned || totals->pause_ns < 0)
		return;
	fprintf(page->stream, "  lost memory was found in %s; threads were stopped for %s\n",
	        strcmp(totals->scanned, "copy") == 0 ? "a copy of the process" : "the process",
	        with_unit_of_time((uint64_t)totals->pause_ns));
	if (totals->heap && strcmp(totals->heap, "part") == 0)
		fputs("  memory of the heap outside of live blocks may hide lost blocks\n",
		      page->stream);
	if (totals->running_threads > 0)
		fprintf(page->stream,
		        "  %s could not be stopped: what is lost counts as possibly lost\n",
		        counted(page, (uint64_t)totals->running_threads, "thread"));
}

static void put_footer(struct page *page, const struct dump *dump)
{
	const struct totals *totals = &dump->totals;

	putc('\n', page->stream);
	if (totals->complete_percent >= 0)
		fprintf(page->stream, "  stacks: %.4g %% of the live bytes have complete stacks\n",
		        totals->complete_percent);
	put_loss(page, totals->untracked_blocks, "block",
	         "could not be recorded for want of memory");
	put_loss(page, totals->lost_call_sites, "call site",
	         "could not be recorded for want of memory, or of room in the table of call sites");
	put_loss(page, totals->freed_elsewhere_blocks, "block", "freed by code that is not traced");
	put_loss(page, totals->foreign_frees, "free", "of blocks that were never recorded");
	put_left_out_origins(page, dump);
	put_coverage(page, dump);
	for (size_t i = 0; i < dump->note_count; i++) {
		char *rest;
		bool counts = dump->notes[i][0] >= '0' && dump->notes[i][0] <= '9';
		uint64_t number = counts ? strtoull(dump->notes[i], &rest, 10) : 0;
		fputs("  note: ", page->stream);
		if (counts) /* "2936 forked children" */
			fputs(with_commas(number), page->stream);
		put_text(page->stream, counts ? rest : dump->notes[i]);
		putc('\n', page->stream);
	}
	put_modules(page, dump);
	put_scan(page, totals);
	if (totals->tracer_bytes >= 0)
		fprintf(page->stream, "  tracer: %s of its own",
		        with_unit((uint64_t)totals->tracer_bytes));
	if (totals->tracer_bytes >= 0 && totals->dump_ns >= 0)
		fprintf(page->stream, ", this dump took %s",
		        with_unit_of_time((uint64_t)totals->dump_ns));
	if (totals->tracer_bytes >= 0)
		putc('\n', page->stream);
}

/* Writes how many allocations were made to fail, and the stacks of the first. */
static void put_failures(struct page *page, const struct dump *dump)
{
	if (dump->injected_failures == 0)
		return;
	putc('\n', page->stream);
	set_tone(page, TONE_STRONG);
	fprintf(page->stream, "  %s made to fail on purpose\n",
	        counted(page, dump->injected_failures, "allocation"));
	set_tone(page, TONE_PLAIN);
	for (size_t i = 0; i < dump->failure_count; i++) {
		const struct failure *failure = &dump->failures[i];
		if (failure->only_reached)
			continue;
		if (failure->bytes)
			fprintf(page->stream, "  of %s:\n", counted(page, failure->bytes, "byte"));
		else
			fputs("  of unknown size:\n", page->stream);
		put_stack(page, failure->stack);
	}
}

void put_dump(struct page *page, const struct dump *dump, const struct answer *answer)
{
	put_title(page, dump);
	if (dump->crash)
		put_crash(page, dump);
	put_kinds(page, dump);
	put_totals(page, dump);
	if (answer->by == GROUP_NONE)
		put_sites(page, dump, answer->top);
	else
		put_groups(page, dump, answer->by, answer->top);
	put_failures(page, dump);
	put_footer(page, dump);
	arena_reset(&page->scratch);
}
