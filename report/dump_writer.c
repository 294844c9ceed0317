/* dump_writer.c - see dump_writer.h.  format.h describes the format. */
#include "report/dump_writer.h"

#include "report/blocks_writer.h"
#include "report/format.h"
#include "report/site_totals.h"
#include "report/command.h"
#include "report/coverage.h"
#include "report/crash_modules.h"
#include "report/estimate_writer.h"
#include "report/failure_writer.h"
#include "wrap/base/loss.h"
#include "report/frame_writer.h"
#include "report/frame_cache.h"
#include "report/kinds_writer.h"
#include "report/log_file.h"
#include "wrap/live/live.h"
#include "report/misuse_writer.h"
#include "wrap/module/module_records.h"
#include "wrap/module/registry.h"
#include "wrap/base/options.h"
#include "report/origin.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_read.h"
#include "wrap/site/site_table.h"
#include "wrap/port/port.h"
#include "wrap/base/process.h"
#include "wrap/unwind/sigreturn.h"
#include "wrap/unwind/unwind.h"
#include "report/registers.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/walk_shadow.h"
#include "report/elf_symbols.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of output that a task's name takes in a line. */
#define TASK_LIMIT 64

/* Room for "leakwrap[PID.NUMBER] ". */
#define PREFIX_SIZE 40

/* Modules that other threads may load while a dump is written.  If they load more, the frames of
 * these have no module line. */
#ifndef LEAKWRAP_BARE
#define MODULES_MEANWHILE 256u
#else
#define MODULES_MEANWHILE 0u
#endif

/* The dump that is being written. */
static struct {
	struct leakwrap_writer *writer;
	struct leakwrap_site_totals totals;
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH]; /* the return addresses of the backtrace being written */
	/* By module number - 1: the modules that frames have named.  NULL: no memory. */
	const struct leakwrap_module **named;
	unsigned named_room; /* the highest number that has a place in it */
	bool has_kinds;
} dump;

/* -- lines ------------------------------------------------------------------------------------- */

/* Writes PART as a percentage of WHOLE with two decimals, or "none" if WHOLE is 0. */
static void write_percent(uint64_t part, uint64_t whole)
{
	uint64_t hundredths;

	if (whole == 0) {
		leakwrap_write_text(dump.writer, "none");
		return;
	}
	hundredths = part > UINT64_MAX / 10000 ? part / (whole / 10000) : part * 10000 / whole;
	leakwrap_write_number(dump.writer, hundredths / 100);
	leakwrap_write_text(dump.writer, ".");
	leakwrap_write_digits(dump.writer, hundredths % 100, 2);
}

static void write_note(const char *text)
{
	leakwrap_write_text(dump.writer, "note ");
	leakwrap_write_text(dump.writer, text);
	leakwrap_write_end(dump.writer);
}

/* Writes the note that says what made the dump due. */
static void write_trigger(const struct leakwrap_trigger *trigger)
{
	leakwrap_write_text(dump.writer, "note ");
	leakwrap_write_text(dump.writer, trigger->what);
	leakwrap_write_pair(dump.writer, ": ", trigger->value);
	leakwrap_write_text(dump.writer, " bytes");
	if (trigger->bound > 0) {
		leakwrap_write_pair(dump.writer, ", above ", trigger->bound);
		leakwrap_write_text(dump.writer, " bytes");
	}
	leakwrap_write_end(dump.writer);
}

#ifndef LEAKWRAP_BARE
/* Writes the note that SILENT forked children ended without an exit dump.  Writes nothing if SILENT
 * is 0. */
static void write_silent_children(uint32_t silent)
{
	if (silent == 0)
		return;
	leakwrap_write_pair(dump.writer, "note ", silent);
	leakwrap_write_text(dump.writer, silent == 1 ? " forked child" : " forked children");
	leakwrap_write_text(
	        dump.writer,
	        " ended without a dump, with blocks at call sites that earlier children have "
	        "shown; children=all shows all");
	leakwrap_write_end(dump.writer);
}
#endif

/* -- the parts of a dump ----------------------------------------------------------------------- */

/* Old kernels do not tell the uptime, and a sandbox may keep it from the program. */
static void write_uptime(void)
{
#ifndef LEAKWRAP_BARE
	const uint64_t uptime = leakwrap_time_boot() / 100;

	if (uptime > 0)
		leakwrap_write_pair(dump.writer, " uptime=", uptime);
#endif
}

static void write_head(const char *reason)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();

	leakwrap_write_text(dump.writer, "dump version=");
	leakwrap_write_number(dump.writer, LEAKWRAP_FORMAT_VERSION);
	leakwrap_write_text(dump.writer, " reason=");
	leakwrap_write_text(dump.writer, reason);
	leakwrap_write_text(dump.writer, " time=");
	leakwrap_write_time(dump.writer, leakwrap_time_utc());
	write_uptime();
	leakwrap_write_text(dump.writer, " program=");
	leakwrap_write_name(dump.writer, program ? program->path : "", LEAKWRAP_PATH_LIMIT);
	leakwrap_write_end(dump.writer);
#ifndef LEAKWRAP_BARE
	leakwrap_command_write(dump.writer);
#endif
}

/* Returns whether the option system=0 leaves out the blocks of the system's libraries.  Without an
 * operating system the program cannot tell which blocks these are, and none are left out. */
static bool is_system_left_out(void)
{
#ifdef LEAKWRAP_BARE
	return false;
#else
	return !leakwrap_options.system;
#endif
}

/* Returns whether the dump for REASON shows misuse.  Without an operating system no dump does: the
 * tracer does not look for misuse. */
static bool is_of_misuse(const struct leakwrap_reason *reason)
{
#ifdef LEAKWRAP_BARE
	(void)reason;
	return false;
#else
	return reason->misuse != NULL;
#endif
}

static void write_totals(const struct leakwrap_site_totals *all, uint64_t tracer_bytes)
{
	leakwrap_write_pair(dump.writer, "total live_bytes=", all->bytes);
	leakwrap_write_pair(dump.writer, " live_blocks=", all->blocks);
	leakwrap_write_pair(dump.writer, " call_sites=", all->count);
	if (leakwrap_sites_first_own() > LEAKWRAP_SITE_FIRST) {
		leakwrap_write_pair(dump.writer, " inherited_bytes=", all->inherited_bytes);
		leakwrap_write_pair(dump.writer, " inherited_blocks=", all->inherited_blocks);
		leakwrap_write_text(dump.writer,
		                    all->own ? " inherited=left_out" : " inherited=included");
	}
	leakwrap_write_end(dump.writer);

	leakwrap_estimates_write_totals(dump.writer, all);
	leakwrap_write_text(dump.writer, "stacks complete_stack_bytes_percent=");
	write_percent(all->bytes_of_kind[LEAKWRAP_TRACE_COMPLETE], all->bytes);
	leakwrap_write_pair(dump.writer,
	                    " truncated_blocks=", all->blocks_of_kind[LEAKWRAP_TRACE_TRUNCATED]);
	leakwrap_write_pair(dump.writer,
	                    " guessed_blocks=", all->blocks_of_kind[LEAKWRAP_TRACE_GUESSED]);
	leakwrap_write_pair(dump.writer, " depth=", leakwrap_options.depth);
	leakwrap_write_end(dump.writer);

	leakwrap_write_pair(dump.writer,
	                    "loss untracked_blocks=", atomic_load(&leakwrap_loss.untracked_blocks));
	leakwrap_write_pair(dump.writer, " untracked_bytes=", leakwrap_untracked_bytes());
	leakwrap_write_pair(dump.writer,
	                    " lost_call_sites=", atomic_load(&leakwrap_loss.lost_call_sites));
	leakwrap_write_pair(dump.writer, " freed_elsewhere_blocks=",
	                    atomic_load(&leakwrap_loss.freed_elsewhere));
	leakwrap_write_pair(dump.writer,
	                    " foreign_frees=", atomic_load(&leakwrap_loss.foreign_frees));
	if (is_system_left_out()) {
		leakwrap_write_pair(dump.writer, " left_out_blocks=", all->left_out_blocks);
		leakwrap_write_pair(dump.writer, " left_out_bytes=", all->left_out_bytes);
	}
	leakwrap_write_end(dump.writer);

	leakwrap_write_pair(dump.writer, "tracer tracer_bytes=", tracer_bytes);
	leakwrap_write_end(dump.writer);
#ifndef LEAKWRAP_BARE
	leakwrap_coverage_write(dump.writer);
#endif
}

/* Returns whether PC is in the sigreturn trampoline, the code to which signal handlers return.
 * The trampoline belongs to the C library or to the kernel.  So the code of a module that may be
 * unloaded is not read: it could be unloaded meanwhile. */
static bool is_sigreturn_trampoline(uintptr_t pc, const struct leakwrap_module *gone)
{
	const struct leakwrap_module *module = gone ? gone : leakwrap_module_at(pc);
	struct leakwrap_rule rule;

	return (!module || module->is_permanent) &&
	       leakwrap_find_sigreturn_rule(pc, module ? leakwrap_code_of(module, pc).high : 0,
	                                    &rule);
}

/* Notes that the dump names MODULE, which may be NULL: it gets a line. */
static void name_module(const struct leakwrap_module *module)
{
	if (module && dump.named && module->number <= dump.named_room)
		dump.named[module->number - 1] = module;
}

/* Writes the line of frame LEVEL at PC.  INTERRUPTED: PC is an instruction that a signal
 * interrupted, not a return address.  GONE: the module that PC was in, if it was unloaded; else
 * NULL.  Returns whether the next frame is interrupted: it is if PC is in the sigreturn trampoline.
 * A PC in the trampoline is no return address either: the kernel made that frame, and no call did.
 */
static bool write_frame(unsigned level, uintptr_t pc, bool interrupted,
                        const struct leakwrap_module *gone)
{
	const bool is_trampoline = is_sigreturn_trampoline(pc, gone);
	const struct leakwrap_module *module =
	        leakwrap_frame_write(dump.writer, level, pc, !interrupted && !is_trampoline, gone);

	name_module(module);
	return is_trampoline;
}

/* Writes the lines of TRACE from frame FIRST on; that frame has level 0. */
static void write_backtrace(const struct leakwrap_trace *trace, unsigned first)
{
	bool interrupted = false;

	leakwrap_frame_cache_drop_stale();
	for (unsigned i = first; i < trace->depth; i++) {
		const uintptr_t pc = trace->pcs[i];
		const struct leakwrap_module *gone = leakwrap_module_gone(trace->modules, pc - 1);

		if (interrupted || gone || !leakwrap_frame_write_stored(dump.writer, i - first, pc))
			interrupted = write_frame(i - first, pc, interrupted, gone);
	}
}

/* Writes ORIGIN if it is not the program itself. */
static void write_origin(struct leakwrap_origin origin)
{
	if (origin.kind == LEAKWRAP_ORIGIN_SYSTEM)
		leakwrap_write_text(dump.writer, " origin=system_library");
	if (origin.kind == LEAKWRAP_ORIGIN_LIBRARY) {
		leakwrap_write_pair(dump.writer, " origin=library module=", origin.module->number);
		name_module(origin.module);
	}
}

/* Writes the name TASK, unless it is NULL. */
static void write_task(const char *task)
{
	if (!task)
		return;
	leakwrap_write_text(dump.writer, " task=");
	leakwrap_write_name(dump.writer, task, TASK_LIMIT);
}

/* Writes the call site of ROW with its backtrace.  RANK: its place in the dump, from 1. */
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
	leakwrap_write_pair(dump.writer, "site ", rank);
	leakwrap_write_pair(dump.writer, ": ", row->bytes);
	leakwrap_write_pair(dump.writer, " bytes in ", row->blocks);
	leakwrap_write_text(dump.writer, row->blocks == 1 ? " block, " : " blocks, ");
	leakwrap_write_text(dump.writer, kinds[trace.kind]);
	write_task(task);
	if (dump.has_kinds)
		leakwrap_kinds_write_site(dump.writer, row->site);
	write_origin(leakwrap_origin_of(&trace));
	leakwrap_estimates_write_site(dump.writer, &dump.totals, row->site);
	leakwrap_write_end(dump.writer);
	write_backtrace(&trace, 0);
}

/* Writes the call sites that the options top= and min_bytes= let through.  Returns their number. */
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
	leakwrap_write_pair(dump.writer, "module ", module->number);
	leakwrap_write_text(dump.writer, " ");
	leakwrap_write_hex(dump.writer, module->start);
	leakwrap_write_text(dump.writer, "-");
	leakwrap_write_hex(dump.writer, module->end);
	leakwrap_write_text(dump.writer, " bias=");
	leakwrap_write_hex(dump.writer, module->bias);
	leakwrap_write_text(dump.writer, " build_id=");
	if (module->build_id_size > 0)
		leakwrap_write_bytes_hex(dump.writer, module->build_id, module->build_id_size);
	else
		leakwrap_write_text(dump.writer, "none");
	leakwrap_write_text(dump.writer, " path=");
	leakwrap_write_name(dump.writer, module->path, LEAKWRAP_LINE_MAX);
	leakwrap_write_end(dump.writer);
}

static void write_end(size_t shown, uint64_t started)
{
	leakwrap_write_pair(dump.writer, "end sites=", shown);
	leakwrap_write_pair(dump.writer, " lines=", dump.writer->lines + 1);
	leakwrap_write_pair(dump.writer, " dump_ns=", leakwrap_time_monotonic() - started);
	leakwrap_write_end(dump.writer);
}

/* Stores "leakwrap[PROCESS.NUMBER] " to PREFIX, which has room for PREFIX_SIZE bytes. */
static void make_prefix(char *prefix, int process, unsigned number)
{
	char digits[24];

	strcpy(prefix, LEAKWRAP_LINE_PREFIX);
	strcat(prefix, leakwrap_decimal(digits, sizeof(digits), (uint64_t)process));
	strcat(prefix, ".");
	strcat(prefix, leakwrap_decimal(digits, sizeof(digits), number));
	strcat(prefix, "] ");
}

/* More modules than a chain of calls comes to. */
#define CRASH_WALKS_MAX 64

/* Not inlined: other dumps take less of the stack. */
static __attribute__((noinline)) void write_crash(const struct leakwrap_fault *crash)
{
	struct leakwrap_trace trace = {.pcs = dump.pcs, .max = leakwrap_options.depth};
	struct leakwrap_regs start = leakwrap_registers_read(crash->context);
	struct leakwrap_stack stack = leakwrap_stack_at(start.sp);
	unsigned walks = 0;
	bool interrupted = true;

	leakwrap_write_text(dump.writer, "crash");
	if (crash->exception) {
		leakwrap_write_text(dump.writer, " exception=");
		leakwrap_write_text(dump.writer, crash->exception);
	}
	leakwrap_write_pair(dump.writer, " signal=", (uint64_t)crash->signal);
	leakwrap_write_text(dump.writer, " code=");
	if (crash->code < 0)
		leakwrap_write_text(dump.writer, "-");
	leakwrap_write_number(dump.writer, (uint64_t)labs(crash->code));
	if (crash->has_address) {
		leakwrap_write_text(dump.writer, " fault_address=");
		leakwrap_write_hex(dump.writer, crash->address);
	}
	leakwrap_write_pair(dump.writer, " thread=", (uint64_t)leakwrap_thread_id());
	write_task(crash->task);
	leakwrap_write_end(dump.writer);
	if (crash->context)
		leakwrap_registers_write(dump.writer, crash->context);
	if (crash->no_frames) {
		write_note(crash->no_frames);
		return;
	}
	/* Without registers nothing is known of the frames. */
	if (start.pc != 0 || start.sp != 0) {
		dump.pcs[trace.depth++] = start.pc;
		leakwrap_list_crash_modules(&trace);
		do
			leakwrap_unwind_interrupted(&trace, &stack, &start);
		while (++walks < CRASH_WALKS_MAX && leakwrap_list_crash_modules(&trace));
	}
	for (unsigned level = 0; level < trace.depth; level++)
		interrupted = write_frame(level, dump.pcs[level], interrupted, NULL);
}

/* Writes the modules that frames have named; all modules without dump.named. */
static void write_modules(void)
{
	const unsigned count = dump.named ? dump.named_room : leakwrap_modules_count();

	for (unsigned number = 1; number <= count; number++) {
		const struct leakwrap_module *module =
		        dump.named ? dump.named[number - 1] : leakwrap_module_numbered(number);

		if (module)
			write_module(module);
	}
}

/* Returns whether the C or C++ library or the loader made the allocations of the call site SITE for
 * itself (origin.h). */
static bool is_system_site(uint32_t site)
{
	struct leakwrap_trace trace = {.pcs = dump.pcs};

	if (site == LEAKWRAP_SITE_LOST)
		return false;
	leakwrap_site_read(site, &trace);
	return leakwrap_origin_of(&trace).kind == LEAKWRAP_ORIGIN_SYSTEM;
}

/* Writes the totals, the notes and the call sites for REASON.  EARLIER_LOST: an earlier dump could
 * not be written whole.  Returns the number of call sites that it showed. */
static size_t write_live(const struct leakwrap_reason *reason, bool earlier_lost)
{
	const bool own = reason->own;
	leakwrap_site_test *const is_skipped = is_system_left_out() ? is_system_site : NULL;
	const uint64_t tracer_bytes = reason->kinds && reason->kinds->is_found
	                                      ? reason->kinds->bytes_held
	                                      : leakwrap_pages_held();
	size_t shown;
	bool collected;

	dump.has_kinds = reason->kinds != NULL;
	if (dump.has_kinds)
		leakwrap_kinds_find(reason->kinds);
	leakwrap_estimates_begin(reason->crash != NULL);
	collected = leakwrap_site_totals_collect(&dump.totals, own, is_skipped);
	if (dump.has_kinds)
		leakwrap_kinds_resume_threads(reason->kinds);
#ifdef LEAKWRAP_BARE
	write_totals(&dump.totals, tracer_bytes);
	if (!collected)
		write_note("no memory to add up the live blocks: the totals above are not known");
#else
	if (!collected)
		leakwrap_site_totals_largest(&dump.totals, own, is_skipped);
	write_totals(&dump.totals, tracer_bytes);
	if (dump.totals.rows_count < dump.totals.count)
		write_note("no memory to list all call sites: the largest are shown");
#endif
	if (dump.has_kinds)
		leakwrap_kinds_write_total(dump.writer, reason->kinds, &dump.totals);
	if (reason->trigger)
		write_trigger(reason->trigger);
	if (earlier_lost)
		write_note("earlier dumps could not be written whole");
	if (is_system_left_out() && !leakwrap_origin_is_known())
		write_note("system=0 has left out nothing: the program has no symbol table");
#ifndef LEAKWRAP_BARE
	if (atomic_load(&leakwrap_loss.untracked_samples) > 0)
		write_note("no memory to record some sampled blocks: live_bytes lacks what they "
		           "stand for, and live_bytes_error does not cover it");
	write_silent_children(leakwrap_relatives_silent_count());
	if (leakwrap_log_is_outgrown())
		write_note("the log is larger than log_max=: it could not be renamed");
#endif
	if (leakwrap_shadow_overflows() > 0)
		write_note("instrumented functions were nested too deep for the shadow call stack: "
		           "some backtraces are truncated");
	if (leakwrap_sites_were_scarce())
		write_note("the table of call sites has been full of call sites with live blocks: "
		           "some backtraces are truncated");
	shown = write_sites(&dump.totals);
	leakwrap_blocks_write(dump.writer, &dump.totals);
	leakwrap_site_totals_release(&dump.totals);
	if (dump.has_kinds)
		leakwrap_kinds_end();
	leakwrap_estimates_end();
	return shown;
}

/* Writes all lines of a dump. */
static void write_lines(const struct leakwrap_reason *reason, bool earlier_lost)
{
	uint64_t started = leakwrap_time_monotonic();
	size_t shown = 0;

	write_head(reason->name);
	if (reason->crash) {
		write_crash(reason->crash);
		/* The lines so far go out first: a crash may have damaged the tables, too. */
		leakwrap_writer_flush(dump.writer);
	} else if (!is_of_misuse(reason) && !reason->kinds)
		leakwrap_live_reclaim_pages();
	if (is_of_misuse(reason))
		leakwrap_misuse_write(dump.writer, reason->misuse, write_backtrace,
		                      &(struct leakwrap_trace){.pcs = dump.pcs});
	else
		shown = write_live(reason, earlier_lost);
#ifndef LEAKWRAP_BARE
	leakwrap_failures_write(dump.writer, write_backtrace,
	                        &(struct leakwrap_trace){.pcs = dump.pcs});
#endif
	write_modules();
	write_end(shown, started);
}

bool leakwrap_dump_write(struct leakwrap_writer *writer, int fd, unsigned number, bool earlier_lost,
                         const struct leakwrap_reason *reason)
{
	char prefix[PREFIX_SIZE];
	size_t named_size;
	bool written;

	dump.writer = writer;
	dump.named_room = leakwrap_modules_count() + MODULES_MEANWHILE;
	named_size = dump.named_room * sizeof(dump.named[0]);
	/* Without this memory, the dump lists all modules.  It also does if it lists blocks. */
	dump.named = leakwrap_options.blocks ? NULL : leakwrap_scratch_map(named_size);
	leakwrap_frame_cache_start();
	leakwrap_symbols_start();
	leakwrap_origin_start();
	make_prefix(prefix, reason->kinds ? reason->kinds->process : leakwrap_process_id(), number);
	leakwrap_writer_start(writer, fd, prefix);
	leakwrap_writer_expect_many(writer);
	write_lines(reason, earlier_lost);
	written = leakwrap_writer_finish(writer);
	leakwrap_frame_cache_end();
	if (dump.named)
		leakwrap_scratch_unmap(dump.named, named_size);
	return written;
}
