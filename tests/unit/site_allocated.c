/* site_allocated.c - the sums of site_allocated.c in wrap/site: they carry, move from one call site
 * to another, and stay in the sum of all when a call site or a group is given back.
 * sources: wrap/site/site_allocated.c wrap/base/options.c wrap/base/loss.c wrap/base/thread.c
 * sources: wrap/port/linux*.c */
#include "wrap/site/site_allocated.h"

#include "wrap/base/locked_uthash.h"
#include "wrap/base/sampling.h"
#include "wrap/port/port.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_numbers.h"
#include "unit.h"

enum { SITE = LEAKWRAP_SITE_GROUP + 3, OTHER };

struct leakwrap_lock leakwrap_tables_lock;

/* All blocks are recorded. */
uint32_t leakwrap_sampling_interval(void)
{
	return 0;
}

uint32_t leakwrap_last_interval(void)
{
	return 0;
}

/* No group but that of the two call sites is in use. */
bool leakwrap_site_group_is_idle(uint32_t number)
{
	return number / LEAKWRAP_SITE_GROUP != SITE / LEAKWRAP_SITE_GROUP;
}

static void add(uint32_t site, uint64_t blocks, uint64_t bytes, uint64_t temporary)
{
	leakwrap_site_add_allocated(site, (struct leakwrap_allocated){blocks, bytes, temporary});
}

static bool is(struct leakwrap_allocated sums, uint64_t blocks, uint64_t bytes, uint64_t temporary)
{
	return sums.blocks == blocks && sums.bytes == bytes && sums.temporary == temporary;
}

int main(void)
{
	const uint64_t top = (uint64_t)1 << 32;

	CHECK(is(leakwrap_site_allocated(SITE), 0, 0, 0) && !leakwrap_site_has_allocated(SITE));
	add(SITE, 1, 1, 0);
	add(SITE, 1, UINT32_MAX - 1, 0);
	CHECK(is(leakwrap_site_allocated(SITE), 2, top - 1, 0));
	add(SITE, 1, 1, 1);
	CHECK(is(leakwrap_site_allocated(SITE), 3, top, 1));
	add(SITE, 1, 3 * top + UINT32_MAX, 0);
	CHECK(is(leakwrap_site_allocated(SITE), 4, 5 * top - 1, 1));
	add(SITE, 0, (uint64_t)-4, (uint64_t)-2);
	CHECK(is(leakwrap_site_allocated(SITE), 4, 5 * top - 5, 0));
	add(SITE, 0, 0, 2);

	leakwrap_site_move_allocated(SITE, OTHER);
	CHECK(!leakwrap_site_has_allocated(SITE));
	CHECK(is(leakwrap_site_allocated(OTHER), 4, 5 * top - 5, 1));
	CHECK(is(leakwrap_sites_allocated(), 4, 5 * top - 5, 1));

	add(SITE, 1, 5, 1);
	leakwrap_site_forget_allocated(OTHER);
	CHECK(!leakwrap_site_has_allocated(OTHER) && leakwrap_site_has_allocated(SITE));
	CHECK(is(leakwrap_sites_allocated(), 5, 5 * top, 2));
	leakwrap_site_allocated_give_group(LEAKWRAP_SITE_GROUP);
	CHECK(!leakwrap_site_has_allocated(SITE));
	CHECK(is(leakwrap_sites_allocated(), 5, 5 * top, 2));
	return 0;
}
