/* public_api.c - calls every function of leakwrap.h and prints the results. */
#include "leakwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/noinline.h"

static void *volatile kept;
static char pool[4096];

static NOINLINE void seen(void)
{
	kept = malloc(10);
}

static NOINLINE void unseen(void)
{
	leakwrap_disable();
	kept = malloc(200);
	leakwrap_disable();
	leakwrap_enable();
	kept = malloc(200);
	leakwrap_enable();
}

static NOINLINE void freed_later(void **block)
{
	leakwrap_disable();
	*block = malloc(200);
	leakwrap_enable();
}

static NOINLINE void ignored(void)
{
	void *block = malloc(3000);

	kept = block;
	printf("ignore: %d, inside a block: %d\n", leakwrap_ignore(block),
	       leakwrap_ignore((char *)block + 8));
}

static NOINLINE void from_pool(void)
{
	leakwrap_record(pool, 1000);
	leakwrap_record(pool + 1000, 1000);
	leakwrap_record(pool + 2000, 0);
	leakwrap_forget(pool);
}

static NOINLINE void *inner(void *pcs[])
{
	size_t depth = leakwrap_backtrace(pcs, 3);

	printf("backtrace: %zu\n", depth);
	return leakwrap_return_address(0);
}

static NOINLINE void outer(void)
{
	void *pcs[3];
	void *own = inner(pcs);

	printf("return address: %d %d %d\n", own == pcs[0], leakwrap_return_address(0) == pcs[1],
	       leakwrap_return_address(1000) == NULL);
}

int main(int argc, char **argv)
{
	struct leakwrap_counters counters;
	void *block;
	int file;

	if (argc != 2)
		return 2;
	errno = 77;
	seen();
	unseen();
	freed_later(&block);
	free(block);
	ignored();
	from_pool();
	outer();
	file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	printf("dump: %d\n", leakwrap_dump(file));
	printf("still open: %d\n", close(file) == 0);
	printf("dump to a closed descriptor: %d\n", leakwrap_dump(file));
	printf("dump to the log: %d\n", leakwrap_dump(-1));
	if (leakwrap_get_counters(&counters))
		return 1;
	printf("counters: %d %d %d %d\n", (int)counters.live_bytes, (int)counters.live_blocks,
	       (int)counters.call_sites, counters.tracer_bytes > 0);
	printf("foreign frees: %d\n", (int)counters.foreign_frees);
	printf("errno %d\n", errno);
	return 0;
}
