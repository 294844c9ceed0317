/* dump.c - see dump.h.  Gives threads their turns to write dumps, and opens the log.  dump_writer.c
 * writes the lines.
 *
 * Everything here may run in a signal handler that interrupted any code, the tracer included. */
#include "report/dump.h"

#include "report/announcement.h"
#include "report/format.h"
#include "report/request.h"
#include "report/site_totals.h"
#include "wrap/base/loss.h"
#include "report/dump_kinds.h"
#include "report/dump_writer.h"
#include "wrap/leakwrap.h"
#include "wrap/live/live.h"
#include "wrap/base/options.h"
#include "report/log_file.h"
#include "report/output.h"
#include "wrap/port/port.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_hold.h"
#include "wrap/site/site_table.h"
#include "wrap/base/process.h"

#include <errno.h>
#include <stdatomic.h>

/* A thread that waits this long for its turn gives up its dump.  A reader that stopped reading must
 * not keep the program from its exit. */
#define TURN_LIMIT_NS 30000000000u

/* Signals may come faster than dumps can be written.  A thread that has served SERVED_MAX requests
 * is relieved by the next thread that gets a signal.  When PENDING_MAX requests wait, a thread
 * that gets a signal waits until it can write itself.  So each delivered signal has its dump.  The
 * kernel merges the signals that it cannot deliver meanwhile.  The exit dump is the last: it shows
 * what a later request would, and lost memory besides. */
#define SERVED_MAX  8
#define PENDING_MAX 64

/* A signal adds 1 to pending, and before that to pending_kinds if it asks for kinds.  The thread
 * that has the turn subtracts 1 for each dump.  It ends its turn when nothing is pending, or when
 * another thread waits, which then serves the rest. */
static struct {
	_Atomic uint32_t busy;            /* 1: a thread has the turn */
	_Atomic uint32_t pending;         /* requests that signals left */
	_Atomic uint32_t pending_kinds;   /* those of them that want kinds */
	_Atomic uint32_t waiting;         /* threads that wait for their turn */
	_Atomic uint32_t served;          /* requests that the writing thread has served */
	_Atomic bool is_over;             /* the exit dump is written */
	unsigned last_number;             /* the number of the last dump */
	_Atomic unsigned long incomplete; /* dumps that could not be written whole */
	struct leakwrap_writer writer;    /* belongs to the thread that has the turn */
} dump;

/* The ELF note that marks a traced program for the tool (announcement.h).  Its layout is in the
 * System V ABI, chapter 5, "Note Section".  It is in assembly: a compiler would not give the
 * section the type SHT_NOTE. */
#define STRINGIFY_VALUE(value) #value
#define STRINGIFY(macro)       STRINGIFY_VALUE(macro)
#define NOTE_OWNER             "1: .asciz \"" LEAKWRAP_NOTE_OWNER "\"\n2: .balign 4\n"
#define NOTE_HEADER            ".long 2f - 1f, 4f - 3f, " STRINGIFY(LEAKWRAP_NOTE_TYPE) "\n"
#ifndef LEAKWRAP_BARE
#define NOTE_DISTANCES                            \
	".hidden leakwrap_announcement\n"         \
	".hidden leakwrap_malloc_for_libraries\n" \
	"5: .long leakwrap_announcement - 5b\n"   \
	"6: .long leakwrap_malloc_for_libraries - 6b\n"
#else
#define NOTE_DISTANCES ".long 0\n"
#endif
#define NOTE_CONTENT "3: .long " STRINGIFY(LEAKWRAP_FORMAT_VERSION) "\n" NOTE_DISTANCES "4:\n"
__asm__(".pushsection " LEAKWRAP_NOTE_SECTION ", \"a\", %note\n"
        ".balign 4\n" NOTE_HEADER NOTE_OWNER NOTE_CONTENT ".popsection");

/* -- the log ----------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

/* Returns what ERROR, an errno value, means for a log. */
static const char *words_for(int error)
{
	static const struct {
		int error;
		const char *words;
	} table[] = {
	        {ENOENT, " (no such folder)"},
	        {EACCES, " (permission denied)"},
	        {ELOOP, " (a symbolic link, which is not followed)"},
	        {ENXIO, " (a pipe that nobody reads)"},
	        {EISDIR, " (a folder)"},
	        {EROFS, " (a read-only file system)"},
	        {EMFILE, " (no descriptor is left)"},
	        {ENOSPC, " (the disk is full)"},
	        {EDQUOT, " (the disk quota is used up)"},
	        {EFBIG, " (files may not become larger: ulimit -f)"},
	        {EPIPE, " (the pipe's reader has gone)"},
	        {ETIMEDOUT, " (its reader does not read)"},
	        {EIO, " (an input/output error)"},
	        {EPERM, " (not permitted)"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].error == error)
			return table[i].words;
	return "";
}

/* Writes a line to standard error about a dump that did not reach the log.  A person who finds the
 * log empty looks there.  WHAT: what could not be written.  ERROR: the errno value of opening the
 * log, or of writing to it.  The calling thread has the turn. */
static void report_lost_dump(const char *what, int error)
{
	if (!leakwrap_output_stderr_is_usable())
		return;
	leakwrap_writer_start(&dump.writer, 2, "leakwrap: ");
	leakwrap_write_text(&dump.writer, "cannot write ");
	leakwrap_write_text(&dump.writer, what);
	leakwrap_write_text(&dump.writer, " to '");
	leakwrap_write_name(&dump.writer, leakwrap_log_path(), LEAKWRAP_PATH_LIMIT);
	leakwrap_write_text(&dump.writer, "': error ");
	leakwrap_write_number(&dump.writer, (uint64_t)error);
	leakwrap_write_text(&dump.writer, words_for(error));
	leakwrap_write_end(&dump.writer);
	leakwrap_writer_flush(&dump.writer);
}

#else

/* Without an operating system there is no log that could not be opened, and no standard error. */
static void report_lost_dump(const char *what, int error)
{
	(void)what, (void)error;
}

#endif

/* Writes a dump for REASON to FD; a negative FD stands for the option log=.  STANDING: where this
 * thread stands; NULL: the dump has no kinds.  Returns whether the whole dump was written.  The
 * calling thread has the turn. */
static bool write_dump(int fd, const struct leakwrap_reason *reason,
                       const struct leakwrap_standing *standing)
{
	int opened = -1;
	const enum leakwrap_readers_entry entered = leakwrap_sites_begin_reading();
	bool written = false;

	dump.last_number++;
	if (fd < 0)
		fd = opened = leakwrap_log_open(dump.last_number);
	if (fd >= 0)
		written = leakwrap_dump_write_kinds(&dump.writer, fd, dump.last_number,
		                                    atomic_load(&dump.incomplete) > 0, reason,
		                                    standing);
	else
		report_lost_dump("a dump", -fd);
	if (opened > 2 && !written)
		report_lost_dump("all of a dump", dump.writer.error);
	if (opened >= 0)
		leakwrap_log_close(opened);
	if (!written)
		atomic_fetch_add(&dump.incomplete, 1);
	leakwrap_sites_end_reading(entered);
	return written;
}

/* -- turns ------------------------------------------------------------------------------------- */

/* Takes the turn.  Returns false if another thread has it. */
static bool try_turn(void)
{
	return atomic_exchange(&dump.busy, 1) == 0;
}

static void end_turn(void)
{
	atomic_store(&dump.busy, 0);
	leakwrap_wake(&dump.busy);
}

/* Waits for the turn and takes it.  Returns false if that takes longer than TURN_LIMIT_NS. */
static bool wait_for_turn(void)
{
	uint64_t deadline = leakwrap_time_monotonic() + TURN_LIMIT_NS;
	bool has_turn;

	if (try_turn())
		return true;
	atomic_fetch_add(&dump.waiting, 1);
	leakwrap_park_allow(true); /* the thread that has the turn may park this thread */
	while (!(has_turn = try_turn()) && leakwrap_time_monotonic() <= deadline)
		leakwrap_wait(&dump.busy, 1, TURN_LIMIT_NS / 100);
	leakwrap_park_allow(false);
	atomic_fetch_sub(&dump.waiting, 1);
	return has_turn;
}

/* Takes a request for a dump with kinds.  Returns false if there is none. */
static bool take_pending_kinds(void)
{
	uint32_t pending = atomic_load(&dump.pending_kinds);

	while (pending > 0)
		if (atomic_compare_exchange_weak(&dump.pending_kinds, &pending, pending - 1))
			return true;
	return false;
}

/* Returns whether a request is pending, and no other thread waits, which would serve it. */
static bool has_requests(void)
{
	return atomic_load(&dump.pending) > 0 && atomic_load(&dump.waiting) == 0 &&
	       !atomic_load(&dump.is_over);
}

/* Writes dumps for pending requests, and ends the turn.  Requests that arrive meanwhile count.
 * Stops early if another thread waits for the turn: that thread serves the rest.  STANDING: where
 * this thread stands.  The calling thread has the turn. */
static void serve(const struct leakwrap_standing *standing)
{
	static const struct leakwrap_reason on_signal = {.name = "signal"};

	atomic_store(&dump.served, 0);
	while (has_requests()) {
		atomic_fetch_sub(&dump.pending, 1);
		write_dump(-1, &on_signal,
		           take_pending_kinds() || leakwrap_options.kinds == LEAKWRAP_KINDS_ALWAYS
		                   ? standing
		                   : NULL);
		atomic_fetch_add(&dump.served, 1);
	}
	atomic_store(&dump.served, 0);
	end_turn();
}

/* Serves pending requests, unless another thread has the turn or waits for it. */
static void serve_pending(const struct leakwrap_standing *standing)
{
	while (has_requests() && try_turn())
		serve(standing);
}

/* Waits for the turn, writes a dump for REASON to FD and ends the turn.  STANDING: see write_dump.
 * Returns whether the whole dump was written. */
static bool dump_in_turn(int fd, const struct leakwrap_reason *reason,
                         const struct leakwrap_standing *standing)
{
	bool written = false;

	if (wait_for_turn()) {
		written = write_dump(fd, reason, standing);
		end_turn();
	}
	return written;
}

/* Writes a dump for REASON to FD, then serves requests; signals are blocked meanwhile.
 * WITH_KINDS: the dump has kinds.  STANDING: where this thread stands.  Returns whether the whole
 * dump was written. */
static bool dump_and_serve(int fd, const struct leakwrap_reason *reason, bool with_kinds,
                           const struct leakwrap_standing *standing)
{
	struct leakwrap_mask before;
	bool written;

	leakwrap_signals_block(&before);
	written = dump_in_turn(fd, reason, with_kinds ? standing : NULL);
	serve_pending(standing);
	leakwrap_signals_restore(&before);
	return written;
}

/* -- children ---------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

/* The first children with blocks of their own write exit dumps, up to this number, whatever their
 * call sites are. */
#define UNCONDITIONAL_CHILDREN 64

/* Decides whether this forked child writes an exit dump, and records the decision for its
 * relatives (wrap/base/process.h).  Returns true if the child has blocks of its own, and either is
 * among the first UNCONDITIONAL_CHILDREN or has a call site that no relative's dump has shown.
 * Returns true as well if there is no memory to find out.  The calling thread has the turn.
 *
 * A shell may fork thousands of children that all have blocks at the same call sites. */
static bool decide_child_dump(void)
{
	struct leakwrap_site_totals own;
	bool has_blocks, is_wanted;

	if (!leakwrap_has_own_sites())
		return false;
	if (!leakwrap_site_totals_collect(&own, true, NULL))
		return true;
	has_blocks = own.count > 0;
	is_wanted = has_blocks && leakwrap_relatives_count_child() < UNCONDITIONAL_CHILDREN;
	for (size_t i = 0; i < own.rows_count; i++)
		is_wanted |= leakwrap_relatives_record_shown(
		        own.rows[i].site == LEAKWRAP_SITE_LOST
		                ? 0
		                : leakwrap_site_key(own.rows[i].site));
	leakwrap_site_totals_release(&own);
	if (has_blocks && !is_wanted)
		leakwrap_relatives_count_silent();
	return is_wanted;
}

#else

static bool decide_child_dump(void)
{
	return true;
}

#endif

/* -- the public functions ---------------------------------------------------------------------- */

void leakwrap_dump_start(void)
{
	leakwrap_output_start();
	leakwrap_log_start();
}

void leakwrap_dump_reset_in_child(void)
{
	atomic_store(&dump.busy, 0);
	atomic_store(&dump.pending, 0);
	atomic_store(&dump.pending_kinds, 0);
	atomic_store(&dump.waiting, 0);
	atomic_store(&dump.served, 0);
	atomic_store(&dump.is_over, false);
	atomic_store(&dump.incomplete, 0);
	dump.last_number = 0;
}

void leakwrap_dump_abandon(void)
{
	atomic_store(&dump.busy, 0);
}

void leakwrap_dump_on_signal(bool wants_kinds, const void *context)
{
	struct leakwrap_mask before;
	struct leakwrap_standing standing;

	leakwrap_signals_block(&before);
	LEAKWRAP_STAND_AT(&standing, context);
	if (wants_kinds)
		atomic_fetch_add(&dump.pending_kinds, 1);
	if ((atomic_fetch_add(&dump.pending, 1) >= PENDING_MAX ||
	     atomic_load(&dump.served) >= SERVED_MAX) &&
	    wait_for_turn())
		serve(&standing);
	serve_pending(&standing);
	leakwrap_signals_restore(&before);
}

void leakwrap_dump_misuse(const struct leakwrap_misuse *misuse)
{
	struct leakwrap_standing standing;

	LEAKWRAP_STAND_AT(&standing, NULL);
	dump_and_serve(-1, &(struct leakwrap_reason){.name = "misuse", .misuse = misuse}, false,
	               &standing);
}

bool leakwrap_dump_unasked(const char *reason, const struct leakwrap_trigger *trigger)
{
	struct leakwrap_standing standing;
	struct leakwrap_mask before;
	bool has_turn;

	leakwrap_signals_block(&before);
	LEAKWRAP_STAND_AT(&standing, NULL);
	has_turn = try_turn();
	if (has_turn) {
		write_dump(-1, &(struct leakwrap_reason){.name = reason, .trigger = trigger},
		           leakwrap_options.kinds == LEAKWRAP_KINDS_ALWAYS ? &standing : NULL);
		end_turn();
		serve_pending(&standing);
	}
	leakwrap_signals_restore(&before);
	return has_turn;
}

void leakwrap_dump_crash(const struct leakwrap_fault *fault)
{
	struct leakwrap_standing standing;

	LEAKWRAP_STAND_AT(&standing, fault->context);
	dump_and_serve(-1, &(struct leakwrap_reason){.name = "crash", .crash = fault}, false,
	               &standing);
}

void leakwrap_dump_at_exit(bool all)
{
	struct leakwrap_mask before;
	struct leakwrap_standing standing;
	enum leakwrap_readers_entry entered;

	leakwrap_signals_block(&before);
	LEAKWRAP_STAND_AT(&standing, NULL);
	entered = leakwrap_sites_begin_reading();
	if (wait_for_turn()) {
		if (all || decide_child_dump()) {
			write_dump(-1, &(struct leakwrap_reason){.name = "exit", .own = !all},
			           leakwrap_options.kinds != LEAKWRAP_KINDS_NEVER ? &standing
			                                                          : NULL);
			atomic_store(&dump.is_over, true);
		}
		end_turn();
	}
	leakwrap_sites_end_reading(entered);
	leakwrap_signals_restore(&before);
}

int leakwrap_dump(int fd)
{
	struct leakwrap_standing standing;

	LEAKWRAP_STAND_AT(&standing, NULL);
	return dump_and_serve(fd, &(struct leakwrap_reason){.name = "api"},
	                      leakwrap_options.kinds == LEAKWRAP_KINDS_ALWAYS, &standing)
	               ? 0
	               : -1;
}

/* Adds up the live blocks for *COUNTERS, and the tracer's memory meanwhile.  Returns false if there
 * is no memory.  The calling thread has the turn. */
static bool count_live(struct leakwrap_counters *counters)
{
	const enum leakwrap_readers_entry entered = leakwrap_sites_begin_reading();
	struct leakwrap_site_totals all;
	const bool is_done = leakwrap_site_totals_collect(&all, false, NULL);

	counters->live_bytes = all.bytes;
	counters->live_blocks = all.blocks;
	counters->call_sites = all.count;
	counters->tracer_bytes = leakwrap_pages_held();
	leakwrap_site_totals_release(&all);
	leakwrap_sites_end_reading(entered);
	return is_done;
}

int leakwrap_get_counters(struct leakwrap_counters *counters)
{
	struct leakwrap_standing standing;
	struct leakwrap_mask before;
	bool is_done = false;

	leakwrap_live_reclaim_pages();
	leakwrap_signals_block(&before);
	LEAKWRAP_STAND_AT(&standing, NULL);
	if (wait_for_turn()) {
		is_done = count_live(counters);
		end_turn();
	} else {
		counters->live_bytes = counters->live_blocks = counters->call_sites = 0;
		counters->tracer_bytes = leakwrap_pages_held();
	}
	serve_pending(&standing);
	counters->untracked_blocks = atomic_load(&leakwrap_loss.untracked_blocks);
	counters->untracked_bytes = leakwrap_untracked_bytes();
	counters->lost_call_sites = atomic_load(&leakwrap_loss.lost_call_sites);
	counters->freed_elsewhere_blocks = atomic_load(&leakwrap_loss.freed_elsewhere);
	counters->foreign_frees = atomic_load(&leakwrap_loss.foreign_frees);
	leakwrap_signals_restore(&before);
	return is_done ? 0 : -1;
}

int leakwrap_get_kinds(struct leakwrap_kind_counters *kinds)
{
	struct leakwrap_standing standing;
	struct leakwrap_mask before;
	bool is_found = false;

	*kinds = (struct leakwrap_kind_counters){0};
	leakwrap_signals_block(&before);
	LEAKWRAP_STAND_AT(&standing, NULL);
	if (wait_for_turn()) {
		const enum leakwrap_readers_entry entered = leakwrap_sites_begin_reading();

		is_found = leakwrap_dump_count_kinds(kinds, &standing);
		leakwrap_sites_end_reading(entered);
		end_turn();
	}
	serve_pending(&standing);
	leakwrap_signals_restore(&before);
	return is_found ? 0 : -1;
}
