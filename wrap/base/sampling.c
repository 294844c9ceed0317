/* sampling.c - see sampling.h. */
#include "wrap/base/sampling.h"

#include "wrap/base/hash.h"
#include "wrap/base/skipped_calls.h"
#include "wrap/port/port.h"

/* -- arithmetic -------------------------------------------------------------------------------- */

/* Fractional bits of the numbers below 1 from which a weight is added up. */
#define PART_BITS 30

/* 1/p = 1 / (1 - e^-x) with x = size / interval, below 1.  The series is that of the Bernoulli
 * numbers (Abramowitz and Stegun, 23.1.1, for -x):
 *
 *     1/x + 1/2 + x/12 - x^3/720 + x^5/30240 - x^7/1209600 + ...
 *
 * The next term is below 2^-25. */
uint64_t leakwrap_sample_weight(size_t size, uint32_t interval)
{
	uint64_t x, square, power, parts;

	if (size == 0 || size >= interval)
		return LEAKWRAP_WEIGHT_ONE;
	x = ((uint64_t)size << PART_BITS) / interval;
	square = x * x >> PART_BITS;
	parts = ((uint64_t)1 << (PART_BITS - 1)) + x / 12;
	power = x * square >> PART_BITS;
	parts -= power / 720;
	power = power * square >> PART_BITS;
	parts += power / 30240;
	power = power * square >> PART_BITS;
	parts -= power / 1209600;
	return ((uint64_t)interval << LEAKWRAP_WEIGHT_BITS) / size +
	       (parts >> (PART_BITS - LEAKWRAP_WEIGHT_BITS));
}

uint64_t leakwrap_weigh(uint64_t number, uint64_t weight)
{
	const uint64_t low = number & (LEAKWRAP_WEIGHT_ONE - 1);
	uint64_t high = number >> LEAKWRAP_WEIGHT_BITS;

	/* A weight below 2^51 times 20 bits may not fit: both halves of the weight are taken. */
	high = high * weight + low * (weight >> LEAKWRAP_WEIGHT_BITS);
	return high + ((low * (weight & (LEAKWRAP_WEIGHT_ONE - 1)) + LEAKWRAP_WEIGHT_ONE / 2) >>
	               LEAKWRAP_WEIGHT_BITS);
}

/* Returns the square root of NUMBER, rounded down, digit by digit. */
static uint32_t root_of_64_bits(uint64_t number)
{
	uint64_t root = 0;

	for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit >>= 1)
		if ((root | bit) * (root | bit) <= number)
			root |= bit;
	return (uint32_t)root;
}

uint64_t leakwrap_square_root(uint64_t high, uint64_t low)
{
	unsigned shift = 0; /* even */

	for (; high != 0; shift += 2) {
		low = low >> 2 | high << 62;
		high >>= 2;
	}
	return (uint64_t)root_of_64_bits(low) << shift / 2;
}

#ifndef LEAKWRAP_BARE

/* -- the sample -------------------------------------------------------------------------------- */

_Atomic uint32_t leakwrap_sampling_state = LEAKWRAP_THREAD_SAMPLING;
_Atomic uint32_t leakwrap_skipping_state = LEAKWRAP_NO_STATE;
_Atomic uint32_t leakwrap_leaves_state = LEAKWRAP_NO_STATE;
_Atomic uintptr_t leakwrap_has_recorded_all = 1;

static struct {
	_Atomic uint32_t interval;      /* as of leakwrap_sampling_interval */
	_Atomic uint32_t last_interval; /* as of leakwrap_last_interval */
	_Atomic uint32_t since;         /* seconds since 1970 */
	_Atomic bool has_been_off;      /* as of leakwrap_has_been_off */
	_Atomic uint32_t threads;       /* threads that have drawn, for their seeds */
	_Atomic uint32_t seed;
	/* These change at start alone. */
	bool looks_after_calls, has_leaves;
} sampling;

void leakwrap_sampling_switch(uint32_t interval)
{
	uint32_t state = atomic_load(&leakwrap_sampling_state) + 1;

	if (atomic_load(&sampling.seed) != 0)
		leakwrap_skipped_calls_look();
	else if (!sampling.looks_after_calls)
		leakwrap_skipped_calls_pass(sampling.has_leaves);
	if (atomic_load(&sampling.seed) == 0)
		atomic_store(&sampling.seed, (uint32_t)leakwrap_time_monotonic() |
		                                     (uint32_t)(uintptr_t)&interval << 16 | 1);
	atomic_store(&sampling.since, (uint32_t)leakwrap_time_utc());
	if (interval != 0)
		atomic_store(&leakwrap_has_recorded_all, 0);
	if (interval == LEAKWRAP_SAMPLE_OFF)
		atomic_store(&sampling.has_been_off, true);
	else if (interval != 0)
		atomic_store(&sampling.last_interval, interval);
	/* A thread reads the state before the interval: with an old state it looks again. */
	atomic_store(&sampling.interval, interval);
	if (state < LEAKWRAP_THREAD_SAMPLING || state == LEAKWRAP_NO_STATE)
		state = LEAKWRAP_THREAD_SAMPLING;
	atomic_store(&leakwrap_sampling_state, state);
	if (!sampling.looks_after_calls)
		atomic_store(&leakwrap_skipping_state, state);
	if (!sampling.looks_after_calls && sampling.has_leaves)
		atomic_store(&leakwrap_leaves_state, state);
}

void leakwrap_sampling_look_after_calls(void)
{
	sampling.looks_after_calls = true;
}

void leakwrap_sampling_note_leaves(void)
{
	sampling.has_leaves = true;
}

bool leakwrap_has_been_off(void)
{
	return atomic_load(&sampling.has_been_off);
}

uint32_t leakwrap_last_interval(void)
{
	return atomic_load(&sampling.last_interval);
}

int64_t leakwrap_sampling_since(void)
{
	return atomic_load(&sampling.since);
}

uint32_t leakwrap_sampling_interval(void)
{
	return atomic_load_explicit(&sampling.interval, memory_order_acquire);
}

/* Returns the next random number of this thread: splitmix64 (Steele, Lea, Flood: Fast Splittable
 * Pseudorandom Number Generators, 2014). */
static uint64_t next_random(void)
{
	leakwrap_self.random += LEAKWRAP_HASH_FACTOR_64;
	return leakwrap_hash_mix(leakwrap_self.random);
}

#define LOG_BITS 24

/* Returns -ln(NUMBER / 2^64) with LOG_BITS fractional bits.  NUMBER is not 0.
 *
 * The logarithm to base 2 is found bit by bit: squaring a mantissa doubles its logarithm. */
static uint64_t negative_logarithm(uint64_t number)
{
	const unsigned zeros = (unsigned)__builtin_clzll(number);
	uint64_t mantissa = number << zeros >> 32; /* from 2^31 to 2^32: 1 to 2 */
	uint64_t log2 = 63 - zeros;

	for (unsigned i = 0; i < LOG_BITS; i++) {
		const uint64_t square = mantissa * mantissa >> 31;
		const uint64_t is_two = square >> 32;

		mantissa = square >> is_two;
		log2 = log2 << 1 | is_two;
	}
	/* ln 2 with 32 fractional bits. */
	return ((((uint64_t)64 << LOG_BITS) - log2) * 0xb17217f8u) >> 32;
}

/* Sets the bytes up to this thread's next point: the point is the last of DISTANCE bytes, at least
 * one.  The thread looks again at the latest when it has allocated INTERVAL bytes, or a block of
 * that size. */
static void set_distance(uint64_t distance, uint32_t interval)
{
	struct leakwrap_thread *self = &leakwrap_self;

	self->countdown = distance < interval ? (uint32_t)distance : interval;
	self->beyond = distance - self->countdown;
}

/* Draws the distance to the next point: K or more bytes with the probability e^(-K / INTERVAL).
 * The point is the last byte of the distance.  INTERVAL is 0 if all blocks are recorded since the
 * thread looked: then it looks again at its next allocation. */
static void draw_distance(uint32_t interval)
{
	const uint64_t random = next_random();

	if (interval == LEAKWRAP_SAMPLE_OFF)
		set_distance(interval, interval);
	else if (interval == 0)
		set_distance(1, 1);
	else
		set_distance((negative_logarithm(random | 1) * interval >> LOG_BITS) + 1, interval);
}

void leakwrap_sampling_enter_thread(void)
{
	struct leakwrap_thread *self = &leakwrap_self;
	const uint32_t state = atomic_load(&leakwrap_sampling_state);

	if (self->random == 0)
		self->random = atomic_load(&sampling.seed) +
		               ((uint64_t)atomic_fetch_add(&sampling.threads, 1) << 40);
	self->latest.block = NULL; /* what it allocated in another state was not seen */
	draw_distance(atomic_load(&sampling.interval));
	leakwrap_thread_set_state(self, state);
}

void leakwrap_sampling_look_again(void)
{
	leakwrap_thread_stop_countdown(&leakwrap_self);
}

bool leakwrap_sampling_count(size_t size, uint32_t *interval)
{
	const uint32_t present = leakwrap_sampling_interval();
	const uint64_t distance = leakwrap_self.countdown + leakwrap_self.beyond;

	if (present == LEAKWRAP_SAMPLE_OFF) {
		draw_distance(LEAKWRAP_SAMPLE_OFF);
		return false;
	}
	/* All blocks, if that has changed since the thread looked. */
	if (size >= present) {
		*interval = LEAKWRAP_SAMPLE_CERTAIN;
		return true;
	}
	if (size < distance) {
		set_distance(distance - size, present);
		return false;
	}
	draw_distance(present);
	*interval = present;
	return true;
}

#endif
