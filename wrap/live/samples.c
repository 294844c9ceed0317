/* samples.c - see samples.h. */
#include "wrap/live/samples.h"

#include "wrap/base/hash.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/live/release_paths.h"
#include "wrap/port/port.h"

/* An entry of the table.  Its fields are written only while it belongs to the writer: from the
 * store of CLAIMED until STATE says that the entry has a sample. */
struct leakwrap_sample_entry {
	_Atomic uintptr_t address; /* 0: the entry is free */
	_Atomic uint32_t state;    /* even: no sample; odd: a sample.  Each is used once. */
	_Atomic uint32_t site;
	_Atomic size_t size;
	_Atomic uint32_t interval;
};

/* The address of an entry that is being written. */
#define CLAIMED      ((uintptr_t)1)

#define BUCKET       8 /* entries of a bucket */
#define FIRST_BITS   4 /* level 0 has 1 << FIRST_BITS buckets */
#define LEVELS       (sizeof(void *) > 4 ? 27 : 15)
#define FILTER_STUCK UINT8_MAX /* a counter that has counted so far stays */

static struct leakwrap_sample_entry *_Atomic levels[LEVELS];

/* Memory for the first RESERVED_LEVELS levels: 60 KB for up to 1,920 samples.  NULL: none. */
#define RESERVED_LEVELS 4
static struct leakwrap_sample_entry *reserve;

/* -- the filter -------------------------------------------------------------------------------- */

/* Four counters.  RISC-V changes only whole words in one step. */
typedef uint32_t __attribute__((may_alias)) filter_word;

/* Adds 1 to the counter of ADDRESS, or subtracts 1.  A counter that is full is never changed
 * again. */
static void count_in_filter(uintptr_t address, bool is_new)
{
	const uintptr_t counter = (uintptr_t)leakwrap_sample_filter_of((const void *)address);
	const unsigned byte = counter % sizeof(filter_word);
	_Atomic filter_word *const word = (_Atomic filter_word *)(counter - byte);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const unsigned shift = 8 * byte;
#else
	const unsigned shift = 8 * (unsigned)(sizeof(filter_word) - 1 - byte);
#endif
	const uint32_t one = (uint32_t)1 << shift;
	uint32_t counters = atomic_load_explicit(word, memory_order_relaxed);

	while ((counters >> shift & UINT8_MAX) != FILTER_STUCK &&
	       !atomic_compare_exchange_weak(word, &counters,
	                                     is_new ? counters + one : counters - one))
		;
}

/* -- buckets ----------------------------------------------------------------------------------- */

static size_t buckets_of_level(unsigned level)
{
	return (size_t)1 << (FIRST_BITS + level);
}

static size_t size_of_level(unsigned level)
{
	return buckets_of_level(level) * BUCKET * sizeof(struct leakwrap_sample_entry);
}

/* Returns the bucket of ADDRESS in LEVEL, or NULL if the level has not been made. */
static struct leakwrap_sample_entry *bucket_of(unsigned level, uintptr_t address)
{
	struct leakwrap_sample_entry *entries =
	        atomic_load_explicit(&levels[level], memory_order_acquire);
	const uint64_t hash = (uint64_t)(address >> 3) * LEAKWRAP_HASH_FACTOR_64;

	return entries ? &entries[(hash >> (64 - FIRST_BITS - level)) * BUCKET] : NULL;
}

/* Returns memory for LEVEL, or NULL. */
static struct leakwrap_sample_entry *memory_for_level(unsigned level)
{
	const size_t before = buckets_of_level(level) - buckets_of_level(0);

	return reserve && level < RESERVED_LEVELS ? &reserve[before * BUCKET]
	                                          : leakwrap_pages_map(size_of_level(level));
}

/* Makes LEVEL if it has not been made.  Returns false if there is no memory. */
static bool make_level(unsigned level)
{
	leakwrap_lock(&leakwrap_tables_lock);
	if (!atomic_load(&levels[level]))
		atomic_store(&levels[level], memory_for_level(level));
	leakwrap_unlock(&leakwrap_tables_lock);
	return atomic_load(&levels[level]) != NULL;
}

/* Claims a free entry of BUCKET.  Returns NULL if there is none. */
static struct leakwrap_sample_entry *claim_entry(struct leakwrap_sample_entry *bucket)
{
	for (unsigned i = 0; i < BUCKET; i++) {
		uintptr_t address = 0;

		if (atomic_load_explicit(&bucket[i].address, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&bucket[i].address, &address, CLAIMED))
			return &bucket[i];
	}
	return NULL;
}

/* Reads the sample of ENTRY.  Returns false if it has none.  *STATE: the entry's state then. */
static bool read_entry(struct leakwrap_sample_entry *entry, struct leakwrap_sample *sample,
                       uint32_t *state)
{
	*state = atomic_load_explicit(&entry->state, memory_order_acquire);
	sample->address = atomic_load_explicit(&entry->address, memory_order_relaxed);
	sample->size = atomic_load_explicit(&entry->size, memory_order_relaxed);
	sample->site = atomic_load_explicit(&entry->site, memory_order_relaxed);
	sample->interval = atomic_load_explicit(&entry->interval, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return (*state & 1) != 0 && sample->address > CLAIMED &&
	       atomic_load_explicit(&entry->state, memory_order_relaxed) == *state;
}

/* -- the table --------------------------------------------------------------------------------- */

/* Until the first sample no page of it is in memory. */
void leakwrap_samples_reserve(void)
{
	reserve =
	        leakwrap_pages_map_sparse(size_of_level(RESERVED_LEVELS) - size_of_level(0), true);
}

bool leakwrap_samples_add(const struct leakwrap_sample *sample)
{
	struct leakwrap_sample_entry *entry = NULL;

	if (leakwrap_may_be_sampled((const void *)sample->address))
		leakwrap_samples_remove(leakwrap_samples_find((const void *)sample->address));
	for (unsigned level = 0; !entry; level++) {
		if (level == LEVELS || (!atomic_load(&levels[level]) && !make_level(level)))
			return false;
		entry = claim_entry(bucket_of(level, sample->address));
	}
	leakwrap_release_paths_widen(LEAKWRAP_RELEASE_SAMPLED);
	/* Counted first: a free that finds the counter at 0 must not have missed the sample. */
	count_in_filter(sample->address, true);
	atomic_store_explicit(&entry->size, sample->size, memory_order_relaxed);
	atomic_store_explicit(&entry->site, sample->site, memory_order_relaxed);
	atomic_store_explicit(&entry->interval, sample->interval, memory_order_relaxed);
	atomic_store_explicit(&entry->address, sample->address, memory_order_relaxed);
	atomic_fetch_add_explicit(&entry->state, 1, memory_order_release);
	return true;
}

struct leakwrap_found_sample leakwrap_samples_find(const void *block)
{
	const unsigned limit = leakwrap_may_be_sampled(block) ? LEVELS : 0;

	for (unsigned level = 0; level < limit; level++) {
		struct leakwrap_sample_entry *bucket = bucket_of(level, (uintptr_t)block);

		if (!bucket)
			break;
		for (unsigned i = 0; i < BUCKET; i++) {
			struct leakwrap_sample sample;
			uint32_t state;

			if (atomic_load_explicit(&bucket[i].address, memory_order_relaxed) ==
			            (uintptr_t)block &&
			    read_entry(&bucket[i], &sample, &state) &&
			    sample.address == (uintptr_t)block)
				return (struct leakwrap_found_sample){&bucket[i], state};
		}
	}
	return (struct leakwrap_found_sample){NULL, 0};
}

bool leakwrap_samples_remove(struct leakwrap_found_sample found)
{
	uintptr_t address;

	if (!found.entry)
		return false;
	address = atomic_load_explicit(&found.entry->address, memory_order_relaxed);
	/* Who changes the state removes the sample.  Then ADDRESS was the sample's. */
	if (!atomic_compare_exchange_strong(&found.entry->state, &found.state, found.state + 1))
		return false;
	atomic_store_explicit(&found.entry->address, 0, memory_order_release);
	count_in_filter(address, false);
	return true;
}

bool leakwrap_samples_read(struct leakwrap_found_sample found, struct leakwrap_sample *sample)
{
	uint32_t state;

	return found.entry && read_entry(found.entry, sample, &state) && state == found.state;
}

void leakwrap_samples_change_site(struct leakwrap_found_sample found, uint32_t site)
{
	if (found.entry)
		atomic_store_explicit(&found.entry->site, site, memory_order_relaxed);
}

void leakwrap_samples_each(void (*visit)(void *context, const struct leakwrap_sample *sample),
                           void *context)
{
	for (unsigned level = 0; level < LEVELS; level++) {
		struct leakwrap_sample_entry *entry =
		        atomic_load_explicit(&levels[level], memory_order_acquire);
		const size_t count = buckets_of_level(level) * BUCKET;

		if (!entry)
			break;
		for (size_t i = 0; i < count; i++) {
			struct leakwrap_sample sample;
			uint32_t state;

			if (atomic_load_explicit(&entry[i].address, memory_order_relaxed) != 0 &&
			    read_entry(&entry[i], &sample, &state))
				visit(context, &sample);
		}
	}
}
