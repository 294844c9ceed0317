/* site_chunk.c - site_chunk.c in wrap/site: all chunks of a group but group 0 lie in the group's
 * own pages, which go back.
 * sources: wrap/site/site_chunk.c wrap/base/arena.c wrap/base/options.c wrap/base/loss.c
 * sources: wrap/base/thread.c wrap/port/linux*.c */
#include "wrap/site/site_chunk.h"
#include "unit.h"

int main(void)
{
	const uint32_t first = LEAKWRAP_SITE_GROUP, end = first + LEAKWRAP_SITE_GROUP;
	struct leakwrap_site_chunk *const chunk = leakwrap_site_chunk_make(first, false);

	CHECK(chunk && leakwrap_site_chunk(first) == chunk);
	for (uint32_t number = first; number < end; number += LEAKWRAP_SITE_CHUNK) {
		const uint32_t at = (number - first) / LEAKWRAP_SITE_CHUNK;

		CHECK(leakwrap_site_chunk_make(number, false) == chunk + at);
		CHECK(leakwrap_site_chunk_make(number + LEAKWRAP_SITE_CHUNK - 1, false) ==
		      chunk + at);
		chunk[at].hash[1] = 1;
	}
	CHECK(leakwrap_site_chunk_make(0, false));
	leakwrap_site_chunk(0)->hash[1] = 1;
	leakwrap_site_chunks_give_group(first);
	for (uint32_t number = first; number < end; number += LEAKWRAP_SITE_CHUNK)
		CHECK(leakwrap_site_chunk(number)->hash[1] == 0);
	leakwrap_site_chunks_give_group(0);
	CHECK(leakwrap_site_chunk(0)->hash[1] == 1);
	return 0;
}
