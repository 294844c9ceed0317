/* fast.c - see fast.h. */
#include "wrap/live/fast.h"

LEAKWRAP_TABLE struct leakwrap_address_tables leakwrap_address_tables;

void leakwrap_address_tables_get_bounds(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&leakwrap_address_tables;
	*end = (uintptr_t)(&leakwrap_address_tables + 1);
}
