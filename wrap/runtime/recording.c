/* recording.c - see recording.h. */
#include "wrap/runtime/recording.h"

#include "report/announce.h"
#include "report/announcement.h"
#include "report/request.h"
#include "report/line_writer.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/live/heap_allocator.h"
#include "wrap/live/release_paths.h"
#include "wrap/misuse/misuse.h"
#include "wrap/site/site_mark.h"
#include "wrap/site/stack_cache.h"

/* What was asked for last.  Changed with the tables' lock. */
static struct {
	bool is_on;
	uint32_t interval;
	bool pauses; /* not every block is recorded, and the stack cache is paused */
} recording;

/* Returns the option that needs every block.  With a sample the tracer cannot tell which releases
 * are wrong, and does not find the call site of each allocation. */
static enum leakwrap_needs_all option_that_needs_all(void)
{
	if (leakwrap_options.fail.choice != LEAKWRAP_FAIL_NOTHING)
		return LEAKWRAP_NEEDS_ALL_FAIL;
	return leakwrap_misuse_checked ? LEAKWRAP_NEEDS_ALL_MISUSE : LEAKWRAP_NEEDS_ALL_NOT;
}

/* A sample has few stacks: to learn them takes more memory than it saves time. */
static void pause_or_resume_stack_cache(void)
{
	if (recording.pauses)
		leakwrap_stack_cache_pause();
	else
		leakwrap_stack_cache_resume();
}

/* Switches to what was asked for.  The caller holds the tables' lock, or is the only thread. */
static void apply(void)
{
	const uint32_t before = leakwrap_sampling_interval();
	const uint32_t wanted = recording.is_on ? recording.interval : LEAKWRAP_SAMPLE_OFF;

	leakwrap_announce_recording(recording.is_on, recording.interval);
	if (wanted == before)
		return;
	recording.pauses = wanted != 0;
	/* Threads that simply record find out on the slow path.  Threads that begin to record use
	 * the cache at once. */
	if (!recording.pauses)
		leakwrap_stack_cache_resume();
	leakwrap_sampling_switch(wanted);
	if (before == 0)
		leakwrap_stack_cache_pause();
}

void leakwrap_recording_start(void)
{
	const enum leakwrap_needs_all needs_all = option_that_needs_all();
	const bool is_plain = leakwrap_options.sample == 0 && leakwrap_options.record;

	recording.is_on = leakwrap_options.record;
	recording.interval = (uint32_t)leakwrap_options.sample;
	if (needs_all != LEAKWRAP_NEEDS_ALL_NOT && !is_plain) {
		leakwrap_message(needs_all == LEAKWRAP_NEEDS_ALL_FAIL ? "fail=" : "misuse=",
		                 (const char *[]){" needs all blocks: ",
		                                  recording.is_on ? "sample=" : "record=0",
		                                  " is ignored", NULL});
		recording.is_on = true;
		recording.interval = 0;
	}
	leakwrap_announce_recording(recording.is_on, recording.interval);
	leakwrap_announce_needs_all(needs_all);
	if (leakwrap_options.dump_at_failure)
		leakwrap_sampling_look_after_calls();
	if (leakwrap_heap_has_leaves())
		leakwrap_sampling_note_leaves();
	recording.pauses = !recording.is_on || recording.interval != 0;
	if (recording.pauses) {
		leakwrap_sampling_switch(recording.is_on ? recording.interval
		                                         : LEAKWRAP_SAMPLE_OFF);
		leakwrap_release_paths_begin();
	}
	pause_or_resume_stack_cache();
}

/* Sets what is asked for, and applies it.  IS_ON, INTERVAL: NULL leaves it as it is. */
static bool change(const bool *is_on, const uint32_t *interval)
{
	if (option_that_needs_all() != LEAKWRAP_NEEDS_ALL_NOT)
		return false;
	leakwrap_lock(&leakwrap_tables_lock);
	if (is_on)
		recording.is_on = *is_on;
	if (interval)
		recording.interval = *interval;
	apply();
	leakwrap_unlock(&leakwrap_tables_lock);
	return true;
}

bool leakwrap_recording_switch(bool on)
{
	return change(&on, NULL);
}

bool leakwrap_recording_sample(size_t interval)
{
	const uint32_t wanted = (uint32_t)interval;

	return interval <= LEAKWRAP_SAMPLE_MAX && change(NULL, &wanted);
}

bool leakwrap_recording_mark(void)
{
	bool is_marked = false;

	leakwrap_lock(&leakwrap_tables_lock);
	if (leakwrap_options.fail.choice == LEAKWRAP_FAIL_NOTHING) {
		leakwrap_stack_cache_pause();
		is_marked = leakwrap_sites_mark();
		pause_or_resume_stack_cache();
	}
	if (is_marked)
		leakwrap_announce_mark();
	leakwrap_unlock(&leakwrap_tables_lock);
	return is_marked;
}

/* Sets the option kinds= to WHEN, an enum leakwrap_kinds_when. */
static void set_kinds(uint32_t when)
{
	if (when > LEAKWRAP_KINDS_ALWAYS)
		return;
	leakwrap_options.kinds = (enum leakwrap_kinds_when)when;
	leakwrap_announce_kinds(when);
}

void leakwrap_recording_request(uint32_t value)
{
	const bool is_on = (value & LEAKWRAP_SET_RECORD_ON) != 0;
	const uint32_t interval = (uint32_t)leakwrap_unpack_bytes(value & LEAKWRAP_SET_BYTES);

	if ((value & LEAKWRAP_SET_MARK) != 0)
		leakwrap_recording_mark();
	else if ((value & LEAKWRAP_SET_KINDS) != 0)
		set_kinds(value & LEAKWRAP_SET_BYTES);
	else if (interval <= LEAKWRAP_SAMPLE_MAX)
		change((value & LEAKWRAP_SET_RECORD) != 0 ? &is_on : NULL,
		       (value & LEAKWRAP_SET_SAMPLE) != 0 ? &interval : NULL);
}
