/* site_numbers.c - the quiet time of site_numbers.c in wrap/site stands still while numbers are
 * held, also across a fork.  It never runs backward.
 * sources: wrap/site/site_numbers.c wrap/site/site_chunk.c wrap/base/arena.c wrap/base/options.c
 * sources: wrap/base/loss.c wrap/base/thread.c wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_time_monotonic */
#include "wrap/site/site_numbers.h"
#include "wrap/port/port.h"
#include "unit.h"

static uint64_t now = 5000; /* in milliseconds */
static bool releases_between;

uint64_t __wrap_leakwrap_time_monotonic(void);

/* Another holder may come to its end while one looks at the clock. */
uint64_t __wrap_leakwrap_time_monotonic(void)
{
	const uint64_t time = now;

	if (releases_between) {
		releases_between = false;
		leakwrap_site_numbers_release();
	}
	return time * 1000000;
}

int main(void)
{
	uint32_t quiet = leakwrap_site_numbers_quiet_time();

	now += 1000;
	CHECK(leakwrap_site_numbers_quiet_time() == quiet + 1000);
	leakwrap_site_numbers_hold();
	now += 1000;
	CHECK(leakwrap_site_numbers_quiet_time() == quiet + 1000);
	leakwrap_site_numbers_release();
	CHECK(leakwrap_site_numbers_quiet_time() == quiet + 1000);
	now += 1000;
	CHECK(leakwrap_site_numbers_quiet_time() == quiet + 2000);

	/* A child has no holders. */
	leakwrap_site_numbers_hold();
	now += 1000;
	leakwrap_site_numbers_reset_in_child();
	CHECK(!leakwrap_site_numbers_are_held());
	CHECK(leakwrap_site_numbers_quiet_time() == quiet + 2000);

	/* Two holders add the same time. */
	quiet = leakwrap_site_numbers_quiet_time();
	leakwrap_site_numbers_hold();
	leakwrap_site_numbers_hold();
	now += 3000;
	releases_between = true;
	leakwrap_site_numbers_release();
	CHECK(!leakwrap_site_numbers_are_held());
	CHECK(leakwrap_site_numbers_quiet_time() == quiet);
	now += 3000;
	CHECK(leakwrap_site_numbers_quiet_time() == quiet);
	now += 1000;
	CHECK(leakwrap_site_numbers_quiet_time() == quiet + 1000);
	return 0;
}
