/* unasked.c - see unasked.h. */
#include "report/unasked.h"

#include "report/dump.h"
#include "report/dump_writer.h"
#include "report/line_writer.h"
#include "report/memory_limit.h"
#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/port/port.h"
#include "wrap/site/site_peak.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

/* The least time between two looks, and if the heap has not come to new addresses since. */
#define LOOK_PAUSE_NS    1000000u
#define UNGROWN_PAUSE_NS 10000000u

/* A walk through the live table is followed by a pause of as many times its duration.  The pause
 * ends early when the heap has come to a tenth more new addresses: once for each size. */
#define WALK_PAUSES   50
#define GROWTH_TENTHS 10

/* The peak is looked at as often.  The pause also ends when the heap has come to a fiftieth more
 * new addresses.  So the peak is found to within two per cent. */
#define GROWTH_FIFTIETHS 50

#define NS_PER_SECOND    1000000000u

/* A threshold, which is crossed again only when the memory has fallen by a tenth. */
struct threshold {
	bool is_crossed;
	bool has_fired; /* at FIRED_AT */
	uint64_t fired_at;
};

static struct {
	/* RISC-V exchanges only whole words. */
	_Atomic uint32_t is_looking; /* a thread looks: it alone writes what is not _Atomic */
	_Atomic uint32_t has_failed; /* an allocation has failed */
	_Atomic uint32_t growths;    /* how often the heap has come to new addresses */
	uint32_t next_walk_growths;
	_Atomic uint32_t next_peak_growths;
	uint64_t next_look; /* read by all threads: who reads half of it looks too early or late */
	uint64_t next_walk, next_peak;
	struct threshold live, resident, limit;
	struct threshold height; /* only its time */
	uint64_t highest;        /* live bytes at the last height that was dumped, or 0 */
} unasked;

/* -- thresholds -------------------------------------------------------------------------------- */

/* Returns whether THRESHOLD has not fired for the time of the option dump_pause=. */
static bool is_rested(const struct threshold *threshold, uint64_t now)
{
	return !threshold->has_fired ||
	       now - threshold->fired_at >= (uint64_t)leakwrap_options.dump_pause * NS_PER_SECOND;
}

/* Writes a dump for TRIGGER, unless another thread writes a dump: then a later look does it.
 * Returns whether it wrote one. */
static bool fire(struct threshold *threshold, const char *reason,
                 const struct leakwrap_trigger *trigger)
{
	if (!leakwrap_dump_unasked(reason, trigger))
		return false;
	threshold->has_fired = true;
	threshold->fired_at = leakwrap_time_monotonic();
	return true;
}

/* Writes a dump if VALUE, of WHAT, has crossed BOUND upwards. */
static void compare(struct threshold *threshold, const char *what, uint64_t value, uint64_t bound)
{
	if (value < bound - bound / 10)
		threshold->is_crossed = false;
	else if (value >= bound && !threshold->is_crossed &&
	         is_rested(threshold, leakwrap_time_monotonic()))
		threshold->is_crossed = fire(
		        threshold, "threshold",
		        &(struct leakwrap_trigger){.what = what, .value = value, .bound = bound});
}

/* -- what is looked at ------------------------------------------------------------------------- */

static void add_block(void *sum, const struct leakwrap_live_block *block)
{
	*(uint64_t *)sum += block->site == LEAKWRAP_SITE_IGNORED ? 0 : block->size;
}

static void add_sample(void *sum, const struct leakwrap_sample *sample)
{
	*(uint64_t *)sum += leakwrap_weigh(sample->size,
	                                   leakwrap_sample_weight(sample->size, sample->interval));
}

static uint64_t sum_live_bytes(void)
{
	uint64_t sum = 0;

	leakwrap_live_each(add_block, &sum);
	leakwrap_samples_each(add_sample, &sum);
	return sum;
}

/* Looks at the live bytes, if the last walk was long enough ago. */
static void look_at_live(uint64_t now)
{
	const unsigned percent = leakwrap_options.dump_at_height;
	const uint32_t growths = atomic_load(&unasked.growths);
	uint64_t live, took;

	if (now < unasked.next_walk && growths < unasked.next_walk_growths)
		return;
	unasked.next_walk_growths = growths + growths / GROWTH_TENTHS + 1;
	live = sum_live_bytes();
	took = leakwrap_time_monotonic() - now;
	unasked.next_walk = now + took + took * WALK_PAUSES;
	if (leakwrap_options.dump_at_live > 0)
		compare(&unasked.live, "live bytes", live, leakwrap_options.dump_at_live);
	if (percent == 0 || !is_rested(&unasked.height, now) ||
	    live < unasked.highest + unasked.highest / 100 * percent)
		return;
	if (unasked.highest == 0 ||
	    fire(&unasked.height, "height",
	         &(struct leakwrap_trigger){
	                 .what = "live bytes", .value = live, .bound = unasked.highest}))
		unasked.highest = live;
}

/* Returns whether the peak is looked at without a pause: the heap has grown enough since the last
 * look.  GROWTHS: of the heap so far. */
static bool has_grown_to_peak(uint32_t growths)
{
	return leakwrap_options.peak && growths >= atomic_load(&unasked.next_peak_growths);
}

/* Looks whether the live bytes have come to a peak, if the last look was long enough ago. */
static void look_at_peak(uint64_t now)
{
	const uint32_t growths = atomic_load(&unasked.growths);
	const uint32_t more = growths / GROWTH_FIFTIETHS;
	uint64_t took;

	if (now < unasked.next_peak && !has_grown_to_peak(growths))
		return;
	atomic_store(&unasked.next_peak_growths, growths + (more > 0 ? more : 1));
	leakwrap_peak_update();
	took = leakwrap_time_monotonic() - now;
	unasked.next_peak = now + took + took * WALK_PAUSES;
}

static void look_at_limit(void)
{
	uint64_t used, limit;

	if (leakwrap_memory_limit_read(&used, &limit))
		compare(&unasked.limit, "memory of the cgroup", used,
		        limit / 100 * leakwrap_options.dump_at_limit);
}

static void look_at_all(uint64_t now)
{
	if (leakwrap_options.dump_at_rss > 0)
		compare(&unasked.resident, "resident memory", leakwrap_resident_bytes(),
		        leakwrap_options.dump_at_rss);
	if (leakwrap_options.dump_at_limit > 0)
		look_at_limit();
	if (leakwrap_options.dump_at_live > 0 || leakwrap_options.dump_at_height > 0)
		look_at_live(now);
	if (leakwrap_options.peak)
		look_at_peak(leakwrap_time_monotonic());
}

void leakwrap_unasked_check(enum leakwrap_growth growth)
{
	struct leakwrap_mask before;
	const uint64_t now = leakwrap_time_monotonic();
	const bool has_grown = growth == LEAKWRAP_GROWTH_ADDRESSES;
	const uint64_t pause = has_grown ? 0 : UNGROWN_PAUSE_NS - LOOK_PAUSE_NS;
	const uint32_t growths = atomic_fetch_add(&unasked.growths, has_grown) + has_grown;
	const int saved = errno;

	if (growth == LEAKWRAP_GROWTH_LARGE)
		atomic_store(&unasked.next_peak_growths, growths);
	if (now < unasked.next_look + pause &&
	    (growth == LEAKWRAP_GROWTH_NONE || !has_grown_to_peak(growths)))
		return;
	/* Blocked first: a handler that leaves by siglongjmp must not leave IS_LOOKING set. */
	leakwrap_signals_block(&before);
	if (atomic_exchange(&unasked.is_looking, 1) == 0) {
		look_at_all(now);
		unasked.next_look = leakwrap_time_monotonic() + LOOK_PAUSE_NS;
		atomic_store(&unasked.is_looking, 0);
	}
	leakwrap_signals_restore(&before);
	errno = saved;
}

void leakwrap_unasked_dump_failure(size_t size)
{
	const int saved = errno;

	if (leakwrap_options.dump_at_failure && atomic_exchange(&unasked.has_failed, 1) == 0)
		leakwrap_dump_unasked(
		        "failure",
		        &(struct leakwrap_trigger){.what = "failed allocation", .value = size});
	errno = saved;
}

/* -- start ------------------------------------------------------------------------------------- */

bool leakwrap_unasked_start(void)
{
	const struct leakwrap_options *options = &leakwrap_options;

	if (options->dump_at_limit > 0 && !leakwrap_memory_limit_find(options->cgroup)) {
		leakwrap_message("no limit of memory was found: dump_at=limit has no effect",
		                 (const char *[]){NULL});
		leakwrap_options.dump_at_limit = 0;
	}
	return options->dump_at_live > 0 || options->dump_at_rss > 0 ||
	       options->dump_at_limit > 0 || options->dump_at_height > 0 || options->peak;
}

void leakwrap_unasked_reset_in_child(void)
{
	atomic_store(&unasked.is_looking, 0);
}
