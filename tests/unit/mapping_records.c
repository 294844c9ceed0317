/* mapping_records.c - the record of a mapping is used again when its pages have been unmapped: a
 * process that maps and unmaps for ever does not grow.  The sum stays right, and a limit holds.
 * sources: wrap/port/linux*.c */
#include "wrap/port/port.h"

#include <pthread.h>
#include <string.h>

#include "unit.h"

enum { THREADS = 2, ROUNDS = IS_SLOW ? 400 : 2000, AT_ONCE = 40, SIZE = 4 << 12 };

/* Maps, touches and unmaps. */
static void *churn(void *none)
{
	void *mapped[AT_ONCE];

	(void)none;
	for (int round = 0; round < ROUNDS; round++) {
		const size_t size = (size_t)SIZE << round % 2;

		for (int i = 0; i < AT_ONCE; i++) {
			mapped[i] = leakwrap_pages_map(size);
			CHECK(mapped[i]);
			memset(mapped[i], 1, size);
		}
		for (int i = 0; i < AT_ONCE; i++)
			leakwrap_pages_unmap(mapped[i], size);
	}
	return NULL;
}

static void count(void *context, uintptr_t start, uintptr_t end)
{
	*(size_t *)context += end - start;
}

/* Pages of records count against the limit, too: it is exceeded by the last of them at most. */
static void check_limit(void)
{
	const size_t page = leakwrap_page_size(), limit = leakwrap_pages_held() + 1000 * page;
	char *mapped;

	leakwrap_pages_limit(limit);
	while ((mapped = leakwrap_pages_map(page)) != NULL)
		*mapped = 1;
	CHECK(leakwrap_pages_held() <= limit + page);
	CHECK(leakwrap_pages_held() + page >= limit);
}

int main(void)
{
	pthread_t thread[THREADS];
	size_t before, listed = 0;
	void *kept;

	churn(NULL);
	kept = leakwrap_pages_map(SIZE);
	CHECK(kept);
	memset(kept, 1, SIZE);
	before = leakwrap_pages_held();
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, churn, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	/* Two threads have more mappings at once than one had: a page of records more. */
	CHECK(leakwrap_pages_held() <= before + leakwrap_page_size());
	leakwrap_pages_each(count, &listed);
	CHECK(listed == leakwrap_pages_held());
	leakwrap_pages_unmap(kept, SIZE);
	CHECK(leakwrap_pages_held() == listed - SIZE);
	check_limit();
	return 0;
}
