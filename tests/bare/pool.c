/* pool.c - a vendor's pools without an operating system, named at the link. One pool has blocks of
 * any size, a context as its first argument, and static memory. The other pool has blocks of 32
 * bytes, and takes them from malloc. */
#include <stdio.h>
#include <stdlib.h>

#include "board.h"
#include "leakwrap_bare.h"

static uint64_t memory[1024];

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .write = console_write,
        .program = "pool.elf",
};

struct pool;
void *vendor_alloc(struct pool *pool, uint16_t size);
int vendor_free(struct pool *pool, void *block);
void *vendor_message(void);

static void *volatile kept;

static void by_pool(void)
{
	for (int i = 0; i < 4; i++)
		kept = vendor_alloc(NULL, 50);
	if (vendor_free(NULL, kept) != 7)
		stop(3);
}

static void by_message(void)
{
	kept = vendor_message(); /* the first */
	kept = vendor_message(); /* the second */
}

static void by_malloc(void)
{
	kept = malloc(13);
}

int main(void)
{
	by_pool();
	by_message();
	by_malloc();
	return 0;
}
