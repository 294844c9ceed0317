/* dump_writer.c - see dump_writer.h; the format is described in format.h. */
#include "report/dump_writer.h"

#include "report/site_totals.h"
#include "report/command.h"
#include "wrap/base/common.h"
#include "report/frame_writer.h"
#include "report/frame_cache.h"
#include "wrap/live/live.h"
#include "report/misuse_writer.h"
#include "wrap/module/modules.h"
#include "wrap/base/options.h"
#include "report/origin.h"
#include "wrap/port/port.h"
#include "wrap/base/process.h"
#include "wrap/unwind/prologue.h"
#include "report/registers.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/walk_shadow.h"
#include "report/elf_symbols.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Longest name of a task in a call site's line. */
#define TASK_LIMIT 64

/* "leakwrap[", a process id, ".", a number, "] ". */
#define PREFIX_SIZE 64

/* The dump that is being written. */
static struct {
	struct leakwrap_writer *writer;
	struct leakwrap_site_totals collection;
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH]; /* of the backtrace that is being written */
	bool *named;                       /* which modules a frame has named, or NULL: not known */
	unsigned modules;                  /* how many of them there are */
} dump;

/* -- lines --------------------------------------------------------------------------------------- */

static void pair(const char *key, uint64_t value)
{
	leakwrap_text(dump.writer, key);
	leakwrap_text_number(dump.writer, value);
}

/* Days since 1970 to a date of the proleptic Gregorian calendar, counting years from March so that the
 * leap day comes last. */
static void write_date(int64_t days)
{
	int64_t since = days + 719468; /* 1 March of year 0 to 1 January 1970 */
	int64_t era = since / 146097;  /* of 400 years */
	int64_t day = since % 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	day -= (153 * month + 2) / 5;
	leakwrap_text_digits(dump.writer, (uint64_t)(year + era * 400 + (month >= 10)), 4);
	leakwrap_text(dump.writer, "-");
	leakwrap_text_digits(dump.writer, (uint64_t)(month < 10 ? month + 3 : month - 9), 2);
	leakwrap_text(dump.writer, "-");
	leakwrap_text_digits(dump.writer, (uint64_t)(day + 1), 2);
}

static void write_time(int64_t seconds)
{
	int64_t of_day = seconds % 86400;

	if (seconds < 0) /* a clock that was never set */
		seconds = of_day = 0;
	write_date(seconds / 86400);
	leakwrap_text(dump.writer, "T");
	leakwrap_text_digits(dump.writer, (uint64_t)(of_day / 3600), 2);
	leakwrap_text(dump.writer, ":");
	leakwrap_text_digits(dump.writer, (uint64_t)(of_day / 60 % 60), 2);
	leakwrap_text(dump.writer, ":");
	leakwrap_text_digits(dump.writer, (uint64_t)(of_day % 60), 2);
	leakwrap_text(dump.writer, "Z");
}

static void write_percent(uint64_t part, uint64_t whole)
{
	uint64_t hundredths;

	if (whole == 0) {
		leakwrap_text(dump.writer, "none");
		return;
	}
	hundredths = part > UINT64_MAX / 10000 ? part / (whole / 10000) : part * 10000 / whole;
	leakwrap_text_number(dump.writer, hundredths / 100);
	leakwrap_text(dump.writer, ".");
	leakwrap_text_digits(dump.writer, hundredths % 100, 2);
}

static void write_note(const char *text)
{
	leakwrap_text(dump.writer, "note ");
	leakwrap_text(dump.writer, text);
	leakwrap_text_end(dump.writer);
}

#ifndef LEAKWRAP_BARE
/* SILENT children have left their exit dumps out. */
static void write_silent(uint32_t silent)
{
	if (silent == 0)
		return;
	pair("note ", silent);
	leakwrap_text(dump.writer, silent == 1 ? " forked child" : " forked children");
	leakwrap_text(dump.writer,
	              " ended without a dump, with blocks at call sites that earlier children have "
	              "shown; children=all shows all");
	leakwrap_text_end(dump.writer);
}
#endif

/* -- the parts of a dump ------------------------------------------------------------------------- */

static void write_head(const char *reason)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();

	leakwrap_text(dump.writer, "dump version=");
	leakwrap_text_number(dump.writer, LEAKWRAP_FORMAT_VERSION);
	leakwrap_text(dump.writer, " reason=");
	leakwrap_text(dump.writer, reason);
	leakwrap_text(dump.writer, " time=");
	write_time(leakwrap_time_utc());
	leakwrap_text(dump.writer, " program=");
	leakwrap_text_name(dump.writer, program ? program->path : "", LEAKWRAP_PATH_LIMIT);
	leakwrap_text_end(dump.writer);
#ifndef LEAKWRAP_BARE
	leakwrap_command_write(dump.writer);
#endif
}

/* Without an operating system the program cannot tell which blocks these are. */
static bool leaves_out_system(void)
{
#ifdef LEAKWRAP_BARE
	return false;
#else
	return !leakwrap_options.system;
#endif
}

static void write_totals(const struct leakwrap_site_totals *all, uint64_t tracer_bytes)
{
	pair("total live_bytes=", all->bytes);
	pair(" live_blocks=", all->blocks);
	pair(" call_sites=", all->count);
	if (leakwrap_sites_first_own() > LEAKWRAP_SITE_FIRST) {
		pair(" inherited_bytes=", all->inherited_bytes);
		pair(" inherited_blocks=", all->inherited_blocks);
		leakwrap_text(dump.writer, all->own ? " inherited=left_out" : " inherited=included");
	}
	leakwrap_text_end(dump.writer);

	leakwrap_text(dump.writer, "stacks complete_stack_bytes_percent=");
	write_percent(all->bytes_of_kind[LEAKWRAP_TRACE_COMPLETE], all->bytes);
	pair(" truncated_blocks=", all->blocks_of_kind[LEAKWRAP_TRACE_TRUNCATED]);
	pair(" guessed_blocks=", all->blocks_of_kind[LEAKWRAP_TRACE_GUESSED]);
	leakwrap_text_end(dump.writer);

	pair("loss untracked_blocks=", atomic_load(&leakwrap_loss.untracked_blocks));
	pair(" untracked_bytes=", leakwrap_untracked_bytes());
	pair(" lost_call_sites=", atomic_load(&leakwrap_loss.lost_call_sites));
	pair(" freed_elsewhere_blocks=", atomic_load(&leakwrap_loss.freed_elsewhere));
	pair(" foreign_frees=", atomic_load(&leakwrap_loss.foreign_frees));
	if (leaves_out_system()) {
		pair(" left_out_blocks=", all->left_out_blocks);
		pair(" left_out_bytes=", all->left_out_bytes);
	}
	leakwrap_text_end(dump.writer);

	pair("tracer tracer_bytes=", tracer_bytes);
	leakwrap_text_end(dump.writer);
}

/* Is PC the code to which signal handlers return?  That belongs to the C library or to the kernel: what could be
 * unloaded while it is looked at need not be. */
static bool is_restorer(uintptr_t pc)
{
	const struct leakwrap_module *module = leakwrap_module_ever_at(pc);
	struct leakwrap_rule rule;

	return (!module || module->permanent) &&
	       leakwrap_sigreturn_rule(pc, module ? leakwrap_code_of(module, pc).high : 0, &rule);
}

/* INTERRUPTED: PC is the interrupted instruction itself, as the one behind a restorer is.  Nobody called the restorer either: the
 * kernel made its frame.  Returns whether the next one is interrupted. */
static bool write_frame(unsigned level, uintptr_t pc, bool interrupted,
                        const struct leakwrap_module *gone)
{
	const bool restorer = is_restorer(pc);
	const struct leakwrap_module *module =
	        leakwrap_frame_write(dump.writer, level, pc, !interrupted && !restorer, gone);

	if (module && dump.named &&
	    module->number <= dump.modules) /* another thread may be loading more */
		dump.named[module->number - 1] = true;
	return restorer;
}

/* The module among MODULES that CODE lay in, if another one has taken its place; else NULL. */
static const struct leakwrap_module *gone_from(const struct leakwrap_modules *modules, uintptr_t code)
{
	const struct leakwrap_module *then =
	        modules != leakwrap_modules() ? leakwrap_module_among(modules, code) : NULL;

	return then != leakwrap_module_ever_at(code) ? then : NULL;
}

/* TRACE from its frame FIRST on. */
static void write_backtrace(const struct leakwrap_trace *trace, unsigned first)
{
	bool interrupted = false;

	for (unsigned i = first; i < trace->depth; i++) {
		const uintptr_t pc = trace->pcs[i];
		const struct leakwrap_module *gone =
		        trace->modules ? gone_from(trace->modules, pc - 1) : NULL;

		if (interrupted || gone || !leakwrap_frame_cache_write(dump.writer, i - first, pc))
			interrupted = write_frame(i - first, pc, interrupted, gone);
	}
}

static void write_site(size_t rank, const struct leakwrap_row *row)
{
	static const char *const kinds[] = {
	        [LEAKWRAP_TRACE_COMPLETE] = "complete",
	        [LEAKWRAP_TRACE_TRUNCATED] = "truncated",
	        [LEAKWRAP_TRACE_GUESSED] = "guessed",
	};
	struct leakwrap_trace trace = {.pcs = dump.pcs, .kind = LEAKWRAP_TRACE_TRUNCATED};
	const char *task = NULL;

	if (row->site != LEAKWRAP_SITE_LOST) {
		leakwrap_site_read(row->site, &trace);
		task = leakwrap_site_task(row->site);
	}
	pair("site ", rank);
	pair(": ", row->bytes);
	pair(" bytes in ", row->blocks);
	leakwrap_text(dump.writer, row->blocks == 1 ? " block, " : " blocks, ");
	leakwrap_text(dump.writer, kinds[trace.kind]);
	if (task) {
		leakwrap_text(dump.writer, " task=");
		leakwrap_text_name(dump.writer, task, TASK_LIMIT);
	}
	if (leakwrap_is_kept_by_system(trace.pcs, trace.depth))
		leakwrap_text(dump.writer, " origin=system_library");
	leakwrap_text_end(dump.writer);
	write_backtrace(&trace, 0);
}

/* Returns how many call sites it showed. */
static size_t write_sites(const struct leakwrap_site_totals *all)
{
	size_t shown = 0;

	while (shown < all->rows_count && all->rows[shown].bytes >= leakwrap_options.min_bytes &&
	       (leakwrap_options.top == 0 || shown < leakwrap_options.top)) {
		if (shown + 1 < all->rows_count)
			leakwrap_site_prefetch(all->rows[shown + 1].site);
		write_site(shown + 1, &all->rows[shown]);
		shown++;
	}
	return shown;
}

static void write_module(const struct leakwrap_module *module)
{
	pair("module ", module->number);
	leakwrap_text(dump.writer, " ");
	leakwrap_text_hex(dump.writer, module->start);
	leakwrap_text(dump.writer, "-");
	leakwrap_text_hex(dump.writer, module->end);
	leakwrap_text(dump.writer, " bias=");
	leakwrap_text_hex(dump.writer, module->bias);
	leakwrap_text(dump.writer, " build_id=");
	if (module->build_id_size > 0)
		leakwrap_text_bytes_hex(dump.writer, module->build_id, module->build_id_size);
	else
		leakwrap_text(dump.writer, "none");
	leakwrap_text(dump.writer, " path=");
	leakwrap_text_name(dump.writer, module->path, LEAKWRAP_LINE_MAX);
	leakwrap_text_end(dump.writer);
}

static void write_end(size_t shown, uint64_t started)
{
	pair("end sites=", shown);
	pair(" lines=", dump.writer->lines + 1);
	pair(" dump_ns=", leakwrap_time_monotonic() - started);
	leakwrap_text_end(dump.writer);
}

/* "leakwrap[PID.NUMBER] " */
static void make_prefix(char *prefix, unsigned number)
{
	char digits[24];

	strcpy(prefix, LEAKWRAP_LINE_PREFIX);
	strcat(prefix, leakwrap_decimal(digits, sizeof(digits), (uint64_t)leakwrap_process_id()));
	strcat(prefix, ".");
	strcat(prefix, leakwrap_decimal(digits, sizeof(digits), number));
	strcat(prefix, "] ");
}

static void write_crash(const struct leakwrap_fault *crash)
{
	struct leakwrap_trace trace = {.pcs = dump.pcs, .max = leakwrap_options.depth};
	struct leakwrap_regs start = leakwrap_start_of(crash->context);
	struct leakwrap_stack stack = leakwrap_stack_at(start.sp);
	bool interrupted = true;

	leakwrap_text(dump.writer, "crash");
	if (crash->exception) {
		leakwrap_text(dump.writer, " exception=");
		leakwrap_text(dump.writer, crash->exception);
	}
	pair(" signal=", (uint64_t)crash->signal);
	leakwrap_text(dump.writer, " code=");
	if (crash->code < 0)
		leakwrap_text(dump.writer, "-");
	leakwrap_text_number(dump.writer, (uint64_t)labs(crash->code));
	if (crash->has_address) {
		leakwrap_text(dump.writer, " fault_address=");
		leakwrap_text_hex(dump.writer, crash->address);
	}
	pair(" thread=", (uint64_t)leakwrap_thread_id());
	leakwrap_text_end(dump.writer);
	leakwrap_registers_write(dump.writer, crash->context);
	leakwrap_unwind_interrupted(&trace, &stack, &start);
	for (unsigned level = 0; level < trace.depth; level++)
		interrupted = write_frame(level, dump.pcs[level], interrupted, NULL);
}

static void write_modules(void)
{
	for (unsigned number = 1; number <= dump.modules; number++) {
		const bool named = !dump.named || dump.named[number - 1];
		/* Looked for only then: there may be very many. */
		const struct leakwrap_module *module = named ? leakwrap_module_numbered(number) : NULL;

		if (module)
			write_module(module);
	}
}

/* Are the blocks of SITE the C library's own? */
static bool is_system_site(uint32_t site)
{
	struct leakwrap_trace trace = {.pcs = dump.pcs};

	if (site == LEAKWRAP_SITE_LOST)
		return false;
	leakwrap_site_read(site, &trace);
	return leakwrap_is_kept_by_system(trace.pcs, trace.depth);
}

/* The live blocks, and what is known of them.  OWN: those since the fork.  Returns how many call
 * sites it showed. */
static size_t write_live(bool own, bool earlier_lost)
{
	leakwrap_site_test *const skips = leaves_out_system() ? is_system_site : NULL;
	uint64_t tracer_bytes = leakwrap_pages_held();
	size_t shown;
	bool collected;

	collected = leakwrap_site_totals_collect(&dump.collection, own, skips);
#ifdef LEAKWRAP_BARE
	write_totals(&dump.collection, tracer_bytes);
	if (!collected)
		write_note("no memory to add up the live blocks: the totals above are not known");
#else
	if (!collected)
		leakwrap_site_totals_largest(&dump.collection, own, skips);
	write_totals(&dump.collection, tracer_bytes);
	if (dump.collection.rows_count < dump.collection.count)
		write_note("no memory to list all call sites: the largest are shown");
#endif
	if (earlier_lost)
		write_note("earlier dumps could not be written whole");
	if (leaves_out_system() && !leakwrap_origin_is_known())
		write_note("system=0 has left out nothing: the program has no symbol table");
#ifndef LEAKWRAP_BARE
	write_silent(leakwrap_relatives_silent());
#endif
	if (leakwrap_shadow_overflows() > 0)
		write_note(
		        "instrumented functions were nested too deep for the shadow call stack: some "
		        "backtraces are truncated");
	shown = write_sites(&dump.collection);
	leakwrap_site_totals_release(&dump.collection);
	return shown;
}

/* The lines of a dump, the first to the last. */
static void write_lines(const struct leakwrap_reason *reason, bool earlier_lost)
{
	uint64_t started = leakwrap_time_monotonic();
	size_t shown = 0;

	write_head(reason->name);
	if (reason->crash) {
		write_crash(reason->crash);
		leakwrap_text_flush(dump.writer); /* the tables may be damaged, too */
	} else if (!reason->misuse)
		leakwrap_live_reclaim_pages();
	if (reason->misuse)
		leakwrap_misuse_write(dump.writer, reason->misuse, write_backtrace,
		                      &(struct leakwrap_trace){.pcs = dump.pcs});
	else
		shown = write_live(reason->own, earlier_lost);
	write_modules();
	write_end(shown, started);
}

bool leakwrap_dump_write(struct leakwrap_writer *writer, int fd, unsigned number, bool earlier_lost,
                         const struct leakwrap_reason *reason)
{
	char prefix[PREFIX_SIZE];
	bool written;

	dump.writer = writer;
	dump.modules = leakwrap_modules_count();
	dump.named = leakwrap_scratch_map(dump.modules + 1); /* without it, all modules are listed */
	leakwrap_frame_cache_start();
	leakwrap_symbols_start();
	leakwrap_origin_start();
	make_prefix(prefix, number);
	leakwrap_text_start(writer, fd, prefix);
	leakwrap_text_expect_many(writer);
	write_lines(reason, earlier_lost);
	written = leakwrap_text_finish(writer);
	leakwrap_frame_cache_end();
	if (dump.named)
		leakwrap_scratch_unmap(dump.named, dump.modules + 1);
	return written;
}
