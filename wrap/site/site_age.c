/* site_age.c - see site_age.h. */
#include "wrap/site/site_age.h"

#include "wrap/site/site_numbers.h"
#include "wrap/site/stack_index.h"

#include <stdatomic.h>

static struct {
	_Atomic uint32_t first_own;    /* the limit at the latest leakwrap_sites_begin_own */
	_Atomic uint32_t first_new;    /* the limit at the latest leakwrap_sites_begin_new */
	_Atomic uint32_t unique_limit; /* the limit at the first call: lower numbers are unique */
} age = {.first_own = LEAKWRAP_SITE_FIRST,
         .first_new = LEAKWRAP_SITE_FIRST,
         .unique_limit = LEAKWRAP_SITE_LIMIT};

bool leakwrap_sites_begin_new(void)
{
	const uint32_t limit = leakwrap_site_numbers_limit();

	if (limit >= LEAKWRAP_NEAR_LIMIT / 2)
		return false;
	leakwrap_site_numbers_forget_free();
	if (limit < atomic_load(&age.unique_limit))
		atomic_store(&age.unique_limit, limit);
	atomic_store(&age.first_new, limit);
	leakwrap_stack_index_clear();
	return true;
}

void leakwrap_sites_begin_own(void)
{
	if (leakwrap_sites_begin_new())
		atomic_store(&age.first_own, leakwrap_sites_first_new());
}

uint32_t leakwrap_sites_first_new(void)
{
	return atomic_load_explicit(&age.first_new, memory_order_relaxed);
}

uint32_t leakwrap_sites_first_own(void)
{
	return atomic_load_explicit(&age.first_own, memory_order_relaxed);
}

bool leakwrap_sites_are_unique(void)
{
	return atomic_load(&age.unique_limit) == LEAKWRAP_SITE_LIMIT;
}

bool leakwrap_site_is_unique(uint32_t number)
{
	return number < atomic_load(&age.unique_limit);
}

void leakwrap_sites_note_repeats(void)
{
	atomic_store(&age.unique_limit, LEAKWRAP_SITE_FIRST);
}
