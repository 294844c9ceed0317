/* site_allocated.c - see site_allocated.h. */
#include "wrap/site/site_allocated.h"

#include "wrap/base/locked_uthash.h"
#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/base/site_number.h"
#include "wrap/port/port.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_numbers.h"

#include <stdatomic.h>

/* A sum of 64 bits.  32-bit processors may have no atomic operations on 64 bits, so the carry is
 * added by itself.  A reader between the two sees a sum that is too small by 2^32. */
struct sum {
	_Atomic uint32_t low, high;
};

struct sums {
	struct sum blocks, bytes, temporary;
};

#define SITES_PER_CHUNK LEAKWRAP_SITE_GROUP

static LEAKWRAP_TABLE struct sums *_Atomic chunks[LEAKWRAP_SITE_LIMIT / SITES_PER_CHUNK];

/* The sums of the call sites that were given back. */
static struct sums given_back;

bool leakwrap_counts_allocated(void)
{
	return leakwrap_options.allocated ||
	       (!leakwrap_is_recording_all() && leakwrap_last_interval() != 0);
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

static void clear_sum(struct sum *sum)
{
	atomic_store(&sum->low, 0);
	atomic_store(&sum->high, 0);
}

static void add_sums(struct sums *sums, struct leakwrap_allocated more)
{
	add_to(&sums->blocks, more.blocks);
	add_to(&sums->bytes, more.bytes);
	if (more.temporary != 0)
		add_to(&sums->temporary, more.temporary);
}

static struct leakwrap_allocated read_sums(const struct sums *sums)
{
	return (struct leakwrap_allocated){read_sum(&sums->blocks), read_sum(&sums->bytes),
	                                   read_sum(&sums->temporary)};
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
	add_sums(sums, more);
}

/* Returns the sums of SITE, also those below 0. */
static struct leakwrap_allocated read_site(uint32_t site)
{
	const struct sums *sums = sums_of(site);

	return sums ? read_sums(sums) : (struct leakwrap_allocated){0, 0, 0};
}

/* Returns SUM, or 0 if it is below 0. */
static uint64_t at_least_0(uint64_t sum)
{
	return (int64_t)sum < 0 ? 0 : sum;
}

struct leakwrap_allocated leakwrap_site_allocated(uint32_t site)
{
	const struct leakwrap_allocated sums = read_site(site);

	return (struct leakwrap_allocated){at_least_0(sums.blocks), at_least_0(sums.bytes),
	                                   at_least_0(sums.temporary)};
}

bool leakwrap_site_has_allocated(uint32_t site)
{
	const struct leakwrap_allocated sums = read_site(site);

	return sums.blocks != 0 || sums.bytes != 0 || sums.temporary != 0;
}

struct leakwrap_allocated leakwrap_sites_allocated(void)
{
	struct leakwrap_allocated all = read_sums(&given_back);

	for (uint32_t i = 0; i < LEAKWRAP_SITE_LIMIT / SITES_PER_CHUNK; i++) {
		const struct sums *chunk = atomic_load(&chunks[i]);
		const uint32_t first = i * SITES_PER_CHUNK;

		if (leakwrap_site_group_is_idle(first))
			continue; /* all are 0 */
		for (uint32_t j = 0; chunk && j < SITES_PER_CHUNK; j++) {
			const struct leakwrap_allocated one = read_sums(&chunk[j]);

			all.blocks += one.blocks;
			all.bytes += one.bytes;
			all.temporary += one.temporary;
		}
	}
	return all;
}

void leakwrap_site_move_allocated(uint32_t from, uint32_t to)
{
	const struct leakwrap_allocated moved = read_site(from);

	leakwrap_site_add_allocated(to, moved);
	leakwrap_site_add_allocated(
	        from, (struct leakwrap_allocated){-moved.blocks, -moved.bytes, -moved.temporary});
}

void leakwrap_site_forget_allocated(uint32_t site)
{
	struct sums *sums = sums_of(site);

	if (!sums)
		return;
	add_sums(&given_back, read_sums(sums));
	clear_sum(&sums->blocks);
	clear_sum(&sums->bytes);
	clear_sum(&sums->temporary);
}

void leakwrap_site_allocated_give_group(uint32_t first)
{
	struct sums *const chunk = sums_of(first);

	for (uint32_t i = 0; chunk && i < SITES_PER_CHUNK; i++)
		leakwrap_site_forget_allocated(first + i);
	if (chunk)
		leakwrap_pages_empty(chunk, SITES_PER_CHUNK * sizeof(*chunk));
}
