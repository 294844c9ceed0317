/* site_allocated.c - see site_allocated.h. */
#include "wrap/site/site_allocated.h"

#include "wrap/base/locked_uthash.h"
#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/live/slot.h"
#include "wrap/port/port.h"

#include <stdatomic.h>

/* A sum of 64 bits.  32-bit processors may have no atomic operations on 64 bits, so the carry is
 * added by itself.  A reader between the two sees a sum that is too small by 2^32. */
struct sum {
	_Atomic uint32_t low, high;
};

struct sums {
	struct sum blocks, bytes;
};

#define SITES_PER_CHUNK 4096

static struct sums *_Atomic chunks[LEAKWRAP_SITE_LIMIT / SITES_PER_CHUNK];

/* The sums of the call sites that were given back. */
static struct sums given_back;

bool leakwrap_counts_allocated(void)
{
	return leakwrap_options.allocated ||
	       (leakwrap_is_sampling() && leakwrap_last_interval() != 0);
}

static void add_to(struct sum *sum, uint64_t more)
{
	const uint32_t low = (uint32_t)more;
	const uint32_t before = atomic_fetch_add_explicit(&sum->low, low, memory_order_relaxed);
	const uint32_t carry = before > UINT32_MAX - low;

	if ((more >> 32) + carry != 0)
		atomic_fetch_add_explicit(&sum->high, (uint32_t)(more >> 32) + carry,
		                          memory_order_relaxed);
}

static uint64_t read_sum(const struct sum *sum)
{
	return (uint64_t)atomic_load_explicit(&sum->high, memory_order_relaxed) << 32 |
	       atomic_load_explicit(&sum->low, memory_order_relaxed);
}

/* Returns the sums of SITE, or NULL if its chunk has not been made. */
static struct sums *sums_of(uint32_t site)
{
	struct sums *chunk = atomic_load(&chunks[site / SITES_PER_CHUNK]);

	return chunk ? &chunk[site % SITES_PER_CHUNK] : NULL;
}

/* Makes the chunk of SITE if it has not been made. */
static void make_chunk(uint32_t site)
{
	struct sums *_Atomic *chunk = &chunks[site / SITES_PER_CHUNK];

	leakwrap_lock(&leakwrap_tables_lock);
	if (!atomic_load(chunk))
		atomic_store(chunk, leakwrap_pages_map(SITES_PER_CHUNK * sizeof(struct sums)));
	leakwrap_unlock(&leakwrap_tables_lock);
}

void leakwrap_site_add_allocated(uint32_t site, struct leakwrap_allocated more)
{
	struct sums *sums = sums_of(site);

	if (!sums) {
		make_chunk(site);
		sums = sums_of(site);
	}
	if (!sums)
		return;
	add_to(&sums->blocks, more.blocks);
	add_to(&sums->bytes, more.bytes);
}

struct leakwrap_allocated leakwrap_site_allocated(uint32_t site)
{
	const struct sums *sums = sums_of(site);

	if (!sums)
		return (struct leakwrap_allocated){0, 0};
	return (struct leakwrap_allocated){read_sum(&sums->blocks), read_sum(&sums->bytes)};
}

struct leakwrap_allocated leakwrap_sites_allocated(void)
{
	struct leakwrap_allocated all = {read_sum(&given_back.blocks), read_sum(&given_back.bytes)};

	for (uint32_t i = 0; i < LEAKWRAP_SITE_LIMIT / SITES_PER_CHUNK; i++) {
		const struct sums *chunk = atomic_load(&chunks[i]);

		for (uint32_t j = 0; chunk && j < SITES_PER_CHUNK; j++) {
			all.blocks += read_sum(&chunk[j].blocks);
			all.bytes += read_sum(&chunk[j].bytes);
		}
	}
	return all;
}

void leakwrap_site_move_allocated(uint32_t from, uint32_t to)
{
	const struct leakwrap_allocated moved = leakwrap_site_allocated(from);

	leakwrap_site_add_allocated(to, moved);
	leakwrap_site_add_allocated(from, (struct leakwrap_allocated){-moved.blocks, -moved.bytes});
}

void leakwrap_site_forget_allocated(uint32_t site)
{
	struct sums *sums = sums_of(site);

	if (!sums)
		return;
	add_to(&given_back.blocks, read_sum(&sums->blocks));
	add_to(&given_back.bytes, read_sum(&sums->bytes));
	atomic_store(&sums->blocks.low, 0);
	atomic_store(&sums->blocks.high, 0);
	atomic_store(&sums->bytes.low, 0);
	atomic_store(&sums->bytes.high, 0);
}
