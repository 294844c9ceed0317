/* site_peak.c - site_peak.c in wrap/site keeps what call sites held when most bytes were live: not
 * while a dump reads it, and also in a child of a process that was about to change it.
 * sources: wrap/site/site_peak.c wrap/base/sampling.c wrap/base/skipped_calls.c
 * sources: wrap/base/options.c wrap/base/loss.c wrap/base/thread.c wrap/port/linux*.c */
#include "wrap/site/site_peak.h"

#include "wrap/base/readers.h"
#include "wrap/base/sampling.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_table.h"
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SITES = 20, SITE = LEAKWRAP_SITE_FIRST + 2 };

static size_t live_bytes; /* of the only block */
static uint32_t live_site = SITE;
static unsigned holders;
static bool is_kept[SITES];
static void (*in_keep)(void); /* comes once, while the lock of the peak is held */

/* -- the rest of the runtime ------------------------------------------------------------------- */

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	const struct leakwrap_live_block block = {1, live_bytes, live_site};

	CHECK(holders == 1);
	visit(context, &block);
}

void leakwrap_samples_each(void (*visit)(void *context, const struct leakwrap_sample *sample),
                           void *context)
{
	(void)visit, (void)context;
	CHECK(holders == 1);
}

uint32_t leakwrap_sites_limit(void)
{
	return SITES;
}

void leakwrap_site_numbers_hold(void)
{
	holders++;
}

void leakwrap_site_numbers_release(void)
{
	holders--;
}

void leakwrap_site_keep(uint32_t number)
{
	void (*const now)(void) = in_keep;

	is_kept[number] = true;
	in_keep = NULL;
	if (now)
		now();
}

enum leakwrap_readers_entry leakwrap_readers_enter(void)
{
	return (enum leakwrap_readers_entry)0;
}

void leakwrap_readers_leave(enum leakwrap_readers_entry entered)
{
	(void)entered;
}

/* -- the tests --------------------------------------------------------------------------------- */

/* So many bytes are live. */
static void update(size_t bytes)
{
	live_bytes = bytes;
	leakwrap_peak_update();
	CHECK(holders == 0);
}

/* Returns the bytes of the peak, which are all of SITE. */
static uint64_t read_peak(uint32_t site)
{
	int64_t time;
	const struct leakwrap_peak all = leakwrap_peak_begin_reading(&time);

	CHECK(leakwrap_peak_is_read() && time != 0);
	CHECK(leakwrap_site_peak(site).bytes == all.bytes);
	CHECK(leakwrap_site_peak(site).blocks == all.blocks);
	leakwrap_peak_end_reading();
	CHECK(leakwrap_site_peak(site).bytes == 0);
	return all.bytes;
}

/* A child has no dump that reads, and nobody who has the lock. */
static void fork_and_update(void)
{
	const pid_t child = fork();
	int status = 1;

	CHECK(child >= 0);
	if (child == 0) {
		holders = 0;
		leakwrap_peak_reset_in_child();
		CHECK(!leakwrap_peak_is_read());
		update(1000000);
		CHECK(read_peak(SITE) == 1000000);
		_exit(0);
	}
	/* Who waits for a lock for ever takes no signal but this. */
	for (unsigned i = 0; waitpid(child, &status, WNOHANG) == 0; i++) {
		if (i == 2000)
			kill(child, SIGKILL);
		usleep(10000);
	}
	CHECK(status == 0);
}

int main(void)
{
	int64_t time;

	update(100);
	CHECK(is_kept[SITE]);
	update(50);
	CHECK(read_peak(SITE) == 100);

	/* A collection that has kept the call sites of the last peak runs on. */
	is_kept[SITE] = false;
	update(200);
	CHECK(is_kept[SITE] && read_peak(SITE) == 200);
	is_kept[SITE] = false;
	leakwrap_peak_keep_sites();
	CHECK(is_kept[SITE] && !is_kept[SITE + 1]);

	/* A dump sees one peak. */
	leakwrap_peak_begin_reading(&time);
	live_site = SITE + 1;
	update(300);
	CHECK(leakwrap_site_peak(SITE).bytes == 200 && leakwrap_site_peak(SITE + 1).bytes == 0);
	leakwrap_peak_move(SITE, SITE + 2);
	CHECK(leakwrap_site_peak(SITE).bytes == 0 && leakwrap_site_peak(SITE + 2).bytes == 200);
	live_site = SITE;
	fork_and_update();
	leakwrap_peak_end_reading();
	in_keep = fork_and_update;
	update(400);
	CHECK(!in_keep && read_peak(SITE) == 400);
	return 0;
}
