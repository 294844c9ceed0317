/* site_hold.c - see site_hold.h. */
#include "wrap/site/site_hold.h"

#include "wrap/site/site_numbers.h"
#include "wrap/site/young_site.h"

enum leakwrap_readers_entry leakwrap_sites_begin_reading(void)
{
	enum leakwrap_readers_entry entered;

	leakwrap_site_numbers_hold();
	entered = leakwrap_readers_enter();
	leakwrap_young_sites_settle(false);
	return entered;
}

void leakwrap_sites_end_reading(enum leakwrap_readers_entry entered)
{
	leakwrap_readers_leave(entered);
	leakwrap_site_numbers_release();
}
