/* young_sites.c - see young_sites.h. */
#include "wrap/site/young_sites.h"

#include "wrap/base/locked_uthash.h"
#include "wrap/base/thread.h"
#include "wrap/base/thread_memory.h"
#include "wrap/live/slot.h"
#include "wrap/port/port.h"
#include "wrap/site/site_numbers.h"
#include "wrap/unwind/stack_bounds.h"

#include <stddef.h>
#include <string.h>

/* Return addresses that a ring has room for. */
#define WORDS 4096u

/* The most rings.  Together they have one of 32 numbers. */
#define RINGS_MAX 64u

_Static_assert(WORDS >= 2 * LEAKWRAP_MAX_DEPTH, "the longest backtrace has room");

struct young_site {
	const void *_Atomic block;
	uint32_t start; /* index of the first return address, modulo WORDS */
	uint32_t hash;
	uint16_t depth;
	uint8_t kind; /* enum leakwrap_trace_kind */
};

/* Indexes count on.  A call site with INDEX stands at site[INDEX % LEAKWRAP_SITE_CHUNK]. */
struct leakwrap_young_sites {
	uint32_t first_number; /* 0: the ring has no numbers */
	uintptr_t sp;          /* of the allocation that has begun, else 0 */
	_Atomic uint32_t first, next;
	uint32_t words; /* index behind the last return address */
	struct young_site site[LEAKWRAP_SITE_CHUNK];
	uintptr_t pcs[WORDS];
};

static struct leakwrap_thread_memory memory = {.size = sizeof(struct leakwrap_young_sites)};

_Atomic unsigned leakwrap_young_rings;

static struct leakwrap_young_sites *_Atomic rings[RINGS_MAX];

/* -- rings ------------------------------------------------------------------------------------- */

/* Gives numbers to YOUNG, which has none.  The caller holds the tables' lock. */
static void give_numbers(struct leakwrap_young_sites *young)
{
	const unsigned count = atomic_load(&leakwrap_young_rings);
	const uint32_t number =
	        count < RINGS_MAX ? leakwrap_site_numbers_take_chunk() : LEAKWRAP_SITE_NONE;

	if (number == LEAKWRAP_SITE_NONE)
		return;
	young->first_number = number;
	atomic_store(&leakwrap_site_chunk(number)->young, young);
	atomic_store(&rings[count], young);
	atomic_store(&leakwrap_young_rings, count + 1);
}

/* Takes a ring for this thread.  Returns NULL if there is no memory. */
static struct leakwrap_young_sites *take_ring(void)
{
	struct leakwrap_young_sites *const young = leakwrap_thread_memory_take(&memory);

	if (!young)
		return NULL;
	young->sp = 0;
	if (young->first_number == 0) {
		leakwrap_lock(&leakwrap_tables_lock);
		give_numbers(young);
		leakwrap_unlock(&leakwrap_tables_lock);
	}
	return leakwrap_self.young = young;
}

struct leakwrap_young_sites *leakwrap_young_sites_begin(uintptr_t sp)
{
	struct leakwrap_young_sites *const young =
	        leakwrap_likely(leakwrap_self.young) ? leakwrap_self.young : take_ring();

	if (!young || young->first_number == 0 ||
	    (young->sp != 0 && !leakwrap_stack_was_left(young->sp, sp)))
		return NULL;
	young->sp = sp;
	atomic_signal_fence(memory_order_seq_cst);
	return young;
}

void leakwrap_young_sites_end(uintptr_t sp)
{
	struct leakwrap_young_sites *const young = leakwrap_self.young;

	atomic_signal_fence(memory_order_seq_cst);
	if (young && young->sp == sp)
		young->sp = 0;
}

/* Without a thread, a ring is not used again: its blocks are the parent's. */
void leakwrap_young_sites_forked(void)
{
	memory = (struct leakwrap_thread_memory){.size = memory.size};
	leakwrap_self.young = NULL;
}

/* -- adding ------------------------------------------------------------------------------------ */

/* Returns the index of the first return address of another backtrace of DEPTH frames.  It lies in
 * one piece. */
static uint32_t next_start(const struct leakwrap_young_sites *young, unsigned depth)
{
	const uint32_t left = WORDS - young->words % WORDS;

	return depth <= left ? young->words : young->words + left;
}

bool leakwrap_young_sites_have_room(const struct leakwrap_young_sites *young, unsigned depth)
{
	const uint32_t first = atomic_load_explicit(&young->first, memory_order_relaxed);
	const uint32_t count = atomic_load_explicit(&young->next, memory_order_relaxed) - first;

	return count == 0 ||
	       (count < LEAKWRAP_SITE_CHUNK &&
	        next_start(young, depth) + depth - young->site[first % LEAKWRAP_SITE_CHUNK].start <=
	                WORDS);
}

uint32_t leakwrap_young_site_add(struct leakwrap_young_sites *young,
                                 const struct leakwrap_trace *trace, uint32_t hash,
                                 const void *block)
{
	const uint32_t next = atomic_load_explicit(&young->next, memory_order_relaxed);
	struct young_site *const site = &young->site[next % LEAKWRAP_SITE_CHUNK];

	site->start = next_start(young, trace->depth);
	site->hash = hash;
	site->depth = (uint16_t)trace->depth;
	site->kind = (uint8_t)trace->kind;
	atomic_store_explicit(&site->block, block, memory_order_relaxed);
	memcpy(&young->pcs[site->start % WORDS], trace->pcs, trace->depth * sizeof(trace->pcs[0]));
	young->words = site->start + trace->depth;
	/* The number is stored in a slot of the live table later on. */
	atomic_store_explicit(&young->next, next + 1, memory_order_release);
	atomic_thread_fence(memory_order_release);
	return young->first_number + next % LEAKWRAP_SITE_CHUNK;
}

uint32_t leakwrap_young_site_oldest(const struct leakwrap_young_sites *young, const void **block)
{
	const uint32_t place =
	        atomic_load_explicit(&young->first, memory_order_relaxed) % LEAKWRAP_SITE_CHUNK;

	*block = atomic_load_explicit(&young->site[place].block, memory_order_relaxed);
	return young->first_number + place;
}

void leakwrap_young_site_drop(struct leakwrap_young_sites *young)
{
	const uint32_t first = atomic_load_explicit(&young->first, memory_order_relaxed);

	atomic_store_explicit(&young->first, first + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Returns the ring that has NUMBER. */
static const struct leakwrap_young_sites *ring_of(uint32_t number)
{
	return atomic_load(&leakwrap_site_chunk(number)->young);
}

/* Returns the call site of NUMBER in YOUNG, and sets *INDEX.  Returns NULL if it was dropped. */
static const struct young_site *find(const struct leakwrap_young_sites *young, uint32_t number,
                                     uint32_t *index)
{
	const uint32_t first = atomic_load(&young->first), next = atomic_load(&young->next);
	const uint32_t ahead = (number - young->first_number - first) % LEAKWRAP_SITE_CHUNK;

	*index = first + ahead;
	return ahead < next - first ? &young->site[*index % LEAKWRAP_SITE_CHUNK] : NULL;
}

/* Returns whether the call site with INDEX is still in YOUNG: what was read of it is right. */
static bool is_there(const struct leakwrap_young_sites *young, uint32_t index)
{
	atomic_thread_fence(memory_order_acquire);
	return (int32_t)(index - atomic_load(&young->first)) >= 0;
}

/* Reads the depth and the kind of SITE into TRACE.  SITE is NULL if it has been dropped. */
static void read_head(const struct young_site *site, struct leakwrap_trace *trace)
{
	trace->depth = site ? site->depth : 0;
	trace->kind = site ? (enum leakwrap_trace_kind)site->kind : LEAKWRAP_TRACE_TRUNCATED;
	trace->modules = NULL;
}

void leakwrap_young_site_read_head(uint32_t number, struct leakwrap_trace *trace)
{
	uint32_t index;

	read_head(find(ring_of(number), number, &index), trace);
}

const void *leakwrap_young_site_read(uint32_t number, struct leakwrap_trace *trace)
{
	const struct leakwrap_young_sites *const young = ring_of(number);
	uint32_t index;
	const struct young_site *const site = find(young, number, &index);
	const void *block = NULL;

	read_head(site, trace);
	if (!site)
		return NULL;
	block = atomic_load_explicit(&site->block, memory_order_relaxed);
	memcpy(trace->pcs, &young->pcs[site->start % WORDS], trace->depth * sizeof(trace->pcs[0]));
	if (is_there(young, index))
		return block;
	trace->depth = 0;
	return NULL;
}

static bool has_frames_of(const struct leakwrap_young_sites *young, const struct young_site *site,
                          const struct leakwrap_trace *trace, uint32_t hash)
{
	return site->hash == hash && site->depth == trace->depth &&
	       site->kind == (uint8_t)trace->kind &&
	       memcmp(&young->pcs[site->start % WORDS], trace->pcs,
	              trace->depth * sizeof(trace->pcs[0])) == 0;
}

uint32_t leakwrap_young_site_lowest(uint32_t number, const struct leakwrap_trace *trace,
                                    uint32_t hash)
{
	const unsigned count = atomic_load(&leakwrap_young_rings);

	for (unsigned i = 0; i < count; i++) {
		const struct leakwrap_young_sites *const young = atomic_load(&rings[i]);

		for (uint32_t place = 0; place < LEAKWRAP_SITE_CHUNK; place++) {
			const uint32_t other = young->first_number + place;
			uint32_t index;
			const struct young_site *const site =
			        other < number ? find(young, other, &index) : NULL;

			if (site && has_frames_of(young, site, trace, hash) &&
			    is_there(young, index))
				number = other;
		}
	}
	return number;
}
