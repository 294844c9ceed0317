/* byte_pool.c - byte_pool.c in wrap/base: byte strings stay what they are, and what one generation
 * needed more than the next goes back to the system.
 * sources: wrap/base/byte_pool.c wrap/base/arena.c wrap/base/options.c wrap/base/loss.c
 * sources: wrap/base/thread.c wrap/port/linux*.c */
#include "wrap/base/byte_pool.h"
#include "wrap/port/port.h"
#include "unit.h"

#include <string.h>

enum { STRINGS = 100000, FEW = 1000, LONGEST = 200 };

static leakwrap_pool_offset at[STRINGS];

static size_t make_up(unsigned number, uint8_t *bytes)
{
	const size_t size = 1 + number * 7 % LONGEST;

	memset(bytes, (int)(number * 31 % 251), size);
	return size;
}

static void add(unsigned count)
{
	uint8_t bytes[LONGEST];

	for (unsigned i = 0; i < count; i++) {
		const size_t size = make_up(i, bytes);

		at[i] = leakwrap_byte_pool_add(bytes, size, false);
		CHECK(at[i] != 0);
	}
}

static void check(unsigned count)
{
	uint8_t bytes[LONGEST];

	for (unsigned i = 0; i < count; i++) {
		const size_t size = make_up(i, bytes);

		CHECK(memcmp(leakwrap_byte_pool_at(at[i]), bytes, size) == 0);
	}
}

/* Memory suffices for a chunk, but not for the table of chunks' addresses, which only long pointers
 * need. The chunk goes back. */
static void end_memory_at_first(void)
{
	const uint8_t byte = 0;
	void *chunk;

	leakwrap_pages_limit(LEAKWRAP_BYTE_CHUNK + leakwrap_page_size());
	CHECK(leakwrap_byte_pool_add(&byte, 1, false) == 0);
	chunk = leakwrap_pages_map(LEAKWRAP_BYTE_CHUNK);
	CHECK(chunk);
	leakwrap_pages_unmap(chunk, LEAKWRAP_BYTE_CHUNK);
	leakwrap_pages_limit(0);
}

int main(void)
{
	struct leakwrap_byte_generation old = {NULL, 0};
	size_t least = SIZE_MAX, most = 0;

	if (sizeof(void *) > sizeof(leakwrap_pool_offset))
		end_memory_at_first();
	for (unsigned round = 0; round < 8; round++) {
		const unsigned count = round % 4 == 0 ? STRINGS : FEW;
		size_t held;

		leakwrap_byte_pool_give(old);
		held = leakwrap_pages_held();
		least = round > 0 && held < least ? held : least;
		old = leakwrap_byte_pool_begin_generation();
		add(count);
		check(count);
		held = leakwrap_pages_held();
		most = held > most ? held : most;
	}
	/* The many strings of a round take 10 MB. */
	CHECK(most > 9000000 && most < 13000000);
	CHECK(least < 2500000);
	return 0;
}
