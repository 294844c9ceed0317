/* declared_roots.c - declared_roots.c in wrap/reach: a start has one range, also if an earlier
 * range was removed, and none once that start is removed.
 * sources: wrap/reach/declared_roots.c wrap/base/arena.c wrap/base/locked_uthash.c
 * sources: wrap/port/linux*.c */
#include "wrap/reach/declared_roots.h"
#include "unit.h"

#define FIRST  ((uintptr_t)0x1000)
#define SECOND ((uintptr_t)0x2000)

/* The ranges that begin at FIRST. */
static struct {
	unsigned count;
	uintptr_t size; /* of the last */
} first;

static void note(void *context, uintptr_t start, uintptr_t end)
{
	(void)context;
	if (start != FIRST)
		return;
	first.count++;
	first.size = end - start;
}

static unsigned count_first(void)
{
	first.count = 0;
	leakwrap_declared_roots_each(note, NULL);
	return first.count;
}

int main(void)
{
	CHECK(leakwrap_declared_roots_add(0, 8) == -1);
	CHECK(leakwrap_declared_roots_add(FIRST, 0) == -1);
	CHECK(leakwrap_declared_roots_add(UINTPTR_MAX, 2) == -1);
	CHECK(leakwrap_declared_roots_remove(0) == -1);
	CHECK(leakwrap_declared_roots_remove(FIRST) == -1);

	CHECK(leakwrap_declared_roots_add(FIRST, 8) == 0);
	CHECK(leakwrap_declared_roots_add(SECOND, 8) == 0);
	CHECK(leakwrap_declared_roots_remove(SECOND) == 0);
	CHECK(leakwrap_declared_roots_remove(0) == -1);
	CHECK(leakwrap_declared_roots_add(FIRST, 16) == 0);
	CHECK(count_first() == 1 && first.size == 16);
	CHECK(leakwrap_declared_roots_remove(FIRST) == 0);
	CHECK(count_first() == 0);
	CHECK(leakwrap_declared_roots_remove(FIRST) == -1);
	return 0;
}
