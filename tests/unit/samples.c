/* samples.c - the table of sampled blocks (wrap/live/samples.c) against a model, while four threads
 * add, remove and replace samples, also those of others, and a fifth thread reads all.
 * sources: wrap/live/fast.c wrap/live/release_paths.c
 * sources: wrap/live/samples.c wrap/base/locked_uthash.c wrap/port/linux*.c */
#include "wrap/live/samples.h"

#include <pthread.h>
#include <string.h>

#include "unit.h"

enum { BLOCKS = 20000, THREADS = 4, EVENTS = IS_SLOW ? 30000 : 100000 };

/* A block that one thread at a time changes. */
static struct {
	_Atomic bool is_busy;
	struct leakwrap_sample sample; /* size 0: it has none */
	unsigned seen;
} blocks[BLOCKS];

static _Atomic bool over;

static uintptr_t address_of(size_t number)
{
	return (uintptr_t)0x10000 + number * 48;
}

static void change(uint64_t *random)
{
	const size_t number = draw_random(random) % BLOCKS;
	struct leakwrap_sample *sample = &blocks[number].sample, got;
	struct leakwrap_found_sample found;
	const void *block = (const void *)address_of(number);

	if (atomic_exchange(&blocks[number].is_busy, true))
		return;
	found = leakwrap_samples_find(block);
	CHECK((found.entry != NULL) == (sample->size != 0));
	CHECK(!found.entry || leakwrap_may_be_sampled(block));
	if (found.entry) {
		CHECK(leakwrap_samples_read(found, &got));
		CHECK(memcmp(&got, sample, sizeof(got)) == 0);
	}
	if (found.entry && draw_random(random) % 4 != 0) {
		CHECK(leakwrap_samples_remove(found));
		CHECK(!leakwrap_samples_remove(found));
		CHECK(!leakwrap_samples_read(found, &got));
		sample->size = 0;
	} else {
		memset(sample, 0, sizeof(*sample));
		sample->address = address_of(number);
		sample->size = 1 + draw_random(random) % 1000;
		sample->site = (uint32_t)(sample->address ^ sample->size);
		sample->interval = (uint32_t)sample->size * 3;
		CHECK(leakwrap_samples_add(sample));
		CHECK(!leakwrap_samples_remove(found)); /* it was replaced */
	}
	atomic_store(&blocks[number].is_busy, false);
}

static void *work(void *argument)
{
	uint64_t random = (uintptr_t)argument;

	for (unsigned i = 0; i < EVENTS; i++)
		change(&random);
	return NULL;
}

/* A sample is read whole or not at all. */
static void check_whole(void *context, const struct leakwrap_sample *sample)
{
	(void)context;
	CHECK(sample->site == (uint32_t)(sample->address ^ sample->size));
	CHECK(sample->interval == (uint32_t)sample->size * 3);
}

static void *read_all(void *argument)
{
	(void)argument;
	while (!atomic_load(&over))
		leakwrap_samples_each(check_whole, NULL);
	return NULL;
}

static void see(void *context, const struct leakwrap_sample *sample)
{
	const size_t number = (sample->address - address_of(0)) / 48;

	(void)context;
	CHECK(memcmp(sample, &blocks[number].sample, sizeof(*sample)) == 0);
	blocks[number].seen++;
}

/* Samples that share a counter of the filter are more than it can count.  It must not come to 0. */
static void fill_counter(void)
{
	const void *const first = (const void *)address_of(0);
	uintptr_t address = address_of(0);

	for (unsigned count = 0; count < 256; address += 16) {
		if (leakwrap_sample_filter_of((const void *)address) !=
		    leakwrap_sample_filter_of(first))
			continue;
		count++;
		CHECK(leakwrap_samples_add(
		        &(struct leakwrap_sample){.address = address, .size = 1, .interval = 3}));
		CHECK(leakwrap_may_be_sampled(first));
	}
	CHECK(leakwrap_samples_remove(leakwrap_samples_find(first)));
	CHECK(leakwrap_may_be_sampled(first));
}

int main(void)
{
	pthread_t thread[THREADS], reader;

	pthread_create(&reader, NULL, read_all, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&over, true);
	pthread_join(reader, NULL);
	leakwrap_samples_each(see, NULL);
	for (unsigned i = 0; i < BLOCKS; i++)
		CHECK(blocks[i].seen == (blocks[i].sample.size != 0));
	/* When all are gone, the filter is empty. */
	for (unsigned i = 0; i < BLOCKS; i++)
		leakwrap_samples_remove(leakwrap_samples_find((const void *)address_of(i)));
	for (unsigned i = 0; i < BLOCKS; i++)
		CHECK(!leakwrap_may_be_sampled((const void *)address_of(i)));
	fill_counter();
	return 0;
}
