/* site_mark.c - see site_mark.h. */
#include "wrap/site/site_mark.h"

#include <stdatomic.h>

#include "wrap/base/site_number.h"
#include "wrap/port/port.h"
#include "wrap/site/site_age.h"
#include "wrap/site/young_site.h"

static struct {
	_Atomic uint32_t first; /* the lowest number since the mark */
	_Atomic uint32_t time;  /* seconds since 1970 */
} mark = {.first = LEAKWRAP_SITE_FIRST};

bool leakwrap_sites_mark(void)
{
	leakwrap_young_sites_settle(true);
	if (!leakwrap_sites_begin_new())
		return false;
	atomic_store(&mark.first, leakwrap_sites_first_new());
	atomic_store(&mark.time, (uint32_t)leakwrap_time_utc());
	return true;
}

uint32_t leakwrap_sites_first_marked(void)
{
	return atomic_load(&mark.first);
}

int64_t leakwrap_sites_mark_time(void)
{
	return atomic_load(&mark.time);
}
