/* dump.c - see dump.h: whose turn it is to write a dump, and where it goes; dump_writer.c writes it.  Everything here may
 * run in a signal handler that interrupted anything, the tracer included. */
#include "report/dump.h"

#include "report/site_totals.h"
#include "wrap/base/common.h"
#include "report/dump_writer.h"
#include "wrap/leakwrap.h"
#include "wrap/live/live.h"
#include "wrap/base/options.h"
#include "report/output.h"
#include "wrap/port/port.h"
#include "wrap/base/process.h"

#include <errno.h>
#include <stdatomic.h>

/* How long a thread waits for another one's dump before it gives up its own: a reader that stopped
 * reading must not keep the program from its exit. */
#define TURN_LIMIT 30000000000u /* nanoseconds */

/* Signals that come faster than dumps can be written: a thread that has written so many for others is relieved by
 * the next one that gets a signal, and when so many requests wait already, whoever gets another is held until
 * it can write itself.  So every signal has its dump, and the kernel joins those that it cannot deliver. */
#define SERVED_MAX  8
#define PENDING_MAX 64

static struct {
	_Atomic uint32_t busy;    /* somebody is writing */
	_Atomic uint32_t pending; /* signals that asked meanwhile */
	_Atomic uint32_t waiting; /* threads that wait for their turn */
	_Atomic uint32_t served;  /* dumps for others that the thread which is writing has made */
	unsigned number;          /* of the last dump */
	_Atomic unsigned long unwritten; /* dumps of which not all could be written */
	struct leakwrap_writer writer;
} dump;

/* The note by which the tool knows a traced program (format.h), laid out as the ELF specification has it: "Note
 * Section" in chapter 5 of the System V ABI.  In assembly: a compiler would not make the section a note. */
#define TEXT_OF(number) #number
#define TEXT(macro)     TEXT_OF(macro)
#define NOTE_HEADER     ".long 2f - 1f, 8, " TEXT(LEAKWRAP_NOTE_TYPE) "\n"
#define NOTE_OWNER      "1: .asciz \"" LEAKWRAP_NOTE_OWNER "\"\n2: .balign 4\n"
#ifndef LEAKWRAP_BARE
#define ANNOUNCEMENT ".hidden leakwrap_announcement\n3: .long leakwrap_announcement - 3b\n"
#else
#define ANNOUNCEMENT ".long 0\n"
#endif
#define NOTE_CONTENT ".long " TEXT(LEAKWRAP_FORMAT_VERSION) "\n" ANNOUNCEMENT
__asm__(".pushsection " LEAKWRAP_NOTE_SECTION ", \"a\", %note\n"
        ".balign 4\n" NOTE_HEADER NOTE_OWNER NOTE_CONTENT ".popsection");

/* -- where it goes ------------------------------------------------------------------------------- */

/* Where people look who wonder about a log that stays empty.  The writer is this thread's now.  ERROR is that of opening it, or
 * 0: the log did not take all of the dump. */
static void tell_lost(int error)
{
	if (!leakwrap_output_stderr_is_usable())
		return;
	leakwrap_text_start(&dump.writer, 2, "leakwrap: ");
	leakwrap_text(&dump.writer,
	              error ? "cannot write a dump to '" : "cannot write all of a dump to '");
	leakwrap_text_name(&dump.writer, leakwrap_options.log, LEAKWRAP_PATH_LIMIT);
	leakwrap_text(&dump.writer, "'");
	if (error) {
		leakwrap_text(&dump.writer, ": error ");
		leakwrap_text_number(&dump.writer, (uint64_t)error);
	}
	leakwrap_text(&dump.writer, error == 0        ? ": the disk is full, or a reader has gone"
	                            : error == ENOENT ? " (no such folder)"
	                            : error == EACCES ? " (permission denied)"
	                            : error == ELOOP  ? " (a symbolic link, which is not followed)"
	                            : error == ENXIO  ? " (a pipe that nobody reads)"
	                                              : "");
	leakwrap_text_end(&dump.writer);
	leakwrap_text_flush(&dump.writer);
}

/* FD is negative for the descriptor of the option log=. */
static bool dump_to(int fd, const struct leakwrap_reason *reason)
{
	int opened = -1;
	bool written = false;

	dump.number++;
	if (fd < 0)
		fd = opened = leakwrap_output_open(dump.number);
	if (fd >= 0)
		written = leakwrap_dump_write(&dump.writer, fd, dump.number,
		                              atomic_load(&dump.unwritten) > 0, reason);
	else
		tell_lost(-fd);
	if (opened > 2 && !written)
		tell_lost(0);
	if (opened >= 0)
		leakwrap_output_close(opened);
	if (!written)
		atomic_fetch_add(&dump.unwritten, 1);
	return written;
}

/* -- turns --------------------------------------------------------------------------------------- */

static bool try_turn(void)
{
	return atomic_exchange(&dump.busy, 1) == 0;
}

static void end_turn(void)
{
	atomic_store(&dump.busy, 0);
	leakwrap_wake(&dump.busy);
}

static bool wait_for_turn(void)
{
	uint64_t give_up = leakwrap_time_monotonic() + TURN_LIMIT;
	bool has_turn;

	atomic_fetch_add(&dump.waiting, 1);
	while (!(has_turn = try_turn()) && leakwrap_time_monotonic() <= give_up)
		leakwrap_wait(&dump.busy, 1, TURN_LIMIT / 100);
	atomic_fetch_sub(&dump.waiting, 1);
	return has_turn;
}

/* It is this thread's turn.  Serves what signals asked for, also while it was at it, but no more than MOST of them, and
 * only until another thread waits: that one goes on. */
static void serve(uint32_t most)
{
	atomic_store(&dump.served, 0);
	for (; most > 0 && atomic_load(&dump.pending) > 0 && atomic_load(&dump.waiting) == 0; most--) {
		atomic_fetch_sub(&dump.pending, 1);
		dump_to(-1, &(struct leakwrap_reason){.name = "signal"});
		atomic_fetch_add(&dump.served, 1);
	}
	atomic_store(&dump.served, 0);
	end_turn();
}

/* The same if nobody else is doing it. */
static void serve_pending(uint32_t most)
{
	while (most > 0 && atomic_load(&dump.pending) > 0 && atomic_load(&dump.waiting) == 0 &&
	       try_turn())
		serve(most);
}

static bool dump_in_turn(int fd, const struct leakwrap_reason *reason)
{
	bool written = false;

	if (wait_for_turn()) {
		written = dump_to(fd, reason);
		end_turn();
	}
	return written;
}

static bool dump_and_serve(int fd, const struct leakwrap_reason *reason)
{
	struct leakwrap_mask before;
	bool written;

	leakwrap_signals_block(&before);
	written = dump_in_turn(fd, reason);
	serve_pending(UINT32_MAX);
	leakwrap_signals_restore(&before);
	return written;
}

/* -- children ------------------------------------------------------------------------------------ */

#ifndef LEAKWRAP_BARE

/* So many forked children dump whatever they have of their own. */
#define TELLERS 64

/* Returns whether the exit dump of this forked child is wanted: it has blocks of its own, and it is
 * among the first children that have, or has a call site that no relative has told of.  A shell may
 * fork thousands that all keep the same. */
static bool child_has_news(void)
{
	struct leakwrap_site_totals own;
	bool has_blocks, is_news;

	if (!leakwrap_collect_may_have_own())
		return false;
	if (!leakwrap_site_totals_collect(&own, true, NULL))
		return true;
	has_blocks = own.count > 0;
	is_news = has_blocks && leakwrap_relatives_tellers() < TELLERS;
	for (size_t i = 0; i < own.rows_count; i++)
		is_news |= leakwrap_relatives_tell(own.rows[i].site == LEAKWRAP_SITE_LOST
		                                           ? 0
		                                           : leakwrap_site_key(own.rows[i].site));
	leakwrap_site_totals_release(&own);
	if (has_blocks && !is_news)
		leakwrap_relatives_stay_silent();
	return is_news;
}

#else

static bool child_has_news(void)
{
	return true;
}

#endif

/* -- who asks ------------------------------------------------------------------------------------ */

void leakwrap_dump_start(void)
{
	leakwrap_output_start();
}

void leakwrap_dump_forked(void)
{
	atomic_store(&dump.busy, 0);
	atomic_store(&dump.pending, 0);
	atomic_store(&dump.waiting, 0);
	atomic_store(&dump.served, 0);
	atomic_store(&dump.unwritten, 0);
	dump.number = 0;
}

void leakwrap_dump_abandon(void)
{
	atomic_store(&dump.busy, 0);
}

void leakwrap_dump_on_signal(void)
{
	struct leakwrap_mask before;

	leakwrap_signals_block(&before);
	if ((atomic_fetch_add(&dump.pending, 1) >= PENDING_MAX ||
	     atomic_load(&dump.served) >= SERVED_MAX) &&
	    wait_for_turn())
		serve(UINT32_MAX);
	serve_pending(UINT32_MAX);
	leakwrap_signals_restore(&before);
}

void leakwrap_dump_misuse(const struct leakwrap_misuse *misuse)
{
	dump_and_serve(-1, &(struct leakwrap_reason){.name = "misuse", .misuse = misuse});
}

void leakwrap_dump_crash(const struct leakwrap_fault *fault)
{
	dump_and_serve(-1, &(struct leakwrap_reason){.name = "crash", .crash = fault});
}

void leakwrap_dump_at_exit(bool all)
{
	struct leakwrap_mask before;

	/* Signals that still come, to other threads, must not keep the process from its end. */
	leakwrap_signals_block(&before);
	if (all || child_has_news())
		dump_in_turn(-1, &(struct leakwrap_reason){.name = "exit", .own = !all});
	serve_pending(atomic_load(&dump.pending));
	leakwrap_signals_restore(&before);
}

int leakwrap_dump(int fd)
{
	return dump_and_serve(fd, &(struct leakwrap_reason){.name = "api"}) ? 0 : -1;
}

int leakwrap_get_counters(struct leakwrap_counters *counters)
{
	struct leakwrap_site_totals all;
	bool collected;

	leakwrap_live_reclaim_pages();
	collected = leakwrap_site_totals_collect(&all, false, NULL);
	counters->live_bytes = all.bytes;
	counters->live_blocks = all.blocks;
	counters->call_sites = all.count;
	counters->untracked_blocks = atomic_load(&leakwrap_loss.untracked_blocks);
	counters->untracked_bytes = leakwrap_untracked_bytes();
	counters->lost_call_sites = atomic_load(&leakwrap_loss.lost_call_sites);
	counters->freed_elsewhere_blocks = atomic_load(&leakwrap_loss.freed_elsewhere);
	counters->foreign_frees = atomic_load(&leakwrap_loss.foreign_frees);
	counters->tracer_bytes = leakwrap_pages_held();
	leakwrap_site_totals_release(&all);
	return collected ? 0 : -1;
}
