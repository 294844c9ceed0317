/* refused_mapping.c - linux_memory.c in wrap/port: a sparse table that a filter forbids to map, or
 * that is unmapped, leaves the limit of memory= as it was.
 * sources: wrap/port/linux*.c */
#include "wrap/port/linux_filter.h"
#include "wrap/port/port.h"
#include "unit.h"

#define LIMIT ((size_t)64 << 20)
#define TABLE ((size_t)256 << 20) /* an eighth of it is within the limit */
#define PART  ((size_t)48 << 20)  /* two of them are not */

static void check_limit(void)
{
	void *const part = leakwrap_pages_map(PART);

	CHECK(part);
	CHECK(!leakwrap_pages_map(PART));
	leakwrap_pages_unmap(part, PART);
}

int main(void)
{
	void *table;

	leakwrap_pages_limit(LIMIT);

	leakwrap_filters_add(NULL, leakwrap_process_id());
	CHECK(!leakwrap_pages_map_sparse(TABLE, true));
	leakwrap_filters_withdraw(NULL);
	check_limit();

	table = leakwrap_pages_map_sparse(TABLE, true);
	CHECK(table);
	leakwrap_pages_unmap(table, TABLE);
	check_limit();
	return 0;
}
