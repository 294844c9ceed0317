/* site_age.c - site_age.c in wrap/site knows which numbers are from before the latest fork or mark,
 * and whose backtraces have one number.
 * sources: wrap/site/site_age.c */
#include "wrap/site/site_age.h"

#include "wrap/site/site_numbers.h"
#include "wrap/site/stack_index.h"
#include "unit.h"

static uint32_t limit = 100;
static unsigned forgotten, cleared;

uint32_t leakwrap_site_numbers_limit(void)
{
	return limit;
}

void leakwrap_site_numbers_forget_free(void)
{
	forgotten++;
}

void leakwrap_stack_index_clear(void)
{
	cleared++;
}

int main(void)
{
	CHECK(leakwrap_sites_are_unique() && leakwrap_site_is_unique(LEAKWRAP_SITE_LIMIT - 1));
	CHECK(leakwrap_sites_first_new() == LEAKWRAP_SITE_FIRST);

	/* A mark.  Older numbers are given no more, and no stack leads to one. */
	CHECK(leakwrap_sites_begin_new());
	CHECK(forgotten == 1 && cleared == 1);
	CHECK(leakwrap_sites_first_new() == 100);
	CHECK(leakwrap_sites_first_own() == LEAKWRAP_SITE_FIRST);
	CHECK(!leakwrap_sites_are_unique());
	CHECK(leakwrap_site_is_unique(99) && !leakwrap_site_is_unique(100));

	/* A fork.  What was not unique before is not unique now. */
	limit = 200;
	leakwrap_sites_begin_own();
	CHECK(forgotten == 2 && cleared == 2);
	CHECK(leakwrap_sites_first_new() == 200 && leakwrap_sites_first_own() == 200);
	CHECK(leakwrap_site_is_unique(99) && !leakwrap_site_is_unique(100));

	/* Too few numbers are left. */
	limit = LEAKWRAP_NEAR_LIMIT / 2;
	CHECK(!leakwrap_sites_begin_new());
	leakwrap_sites_begin_own();
	CHECK(forgotten == 2 && cleared == 2);
	CHECK(leakwrap_sites_first_new() == 200 && leakwrap_sites_first_own() == 200);

	leakwrap_sites_note_repeats();
	CHECK(!leakwrap_site_is_unique(LEAKWRAP_SITE_FIRST) && !leakwrap_sites_are_unique());
	return 0;
}
