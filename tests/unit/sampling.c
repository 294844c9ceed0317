/* sampling.c - what a sample says (wrap/base/sampling.c). The weights and roots are those of libm.
 * Over many seeds the estimates of blocks of very different sizes have the mean of the truth and
 * the spread of the theory. What passes changes nothing of that. SAMPLING_RUNS: the number of
 * seeds.
 * sources: wrap/base/sampling.c wrap/base/skipped_calls.c wrap/base/thread.c wrap/port/linux*.c
 * flags: -lm */
#include "report/request.h"
#include "wrap/base/sampling.h"
#include "wrap/base/skipped_calls.h"

#include <math.h>
#include <stdbool.h>

#include "unit.h"

/* -- arithmetic -------------------------------------------------------------------------------- */

static double weight_of(size_t size, uint32_t interval)
{
	return (double)leakwrap_sample_weight(size, interval) / (double)LEAKWRAP_WEIGHT_ONE;
}

static void check_weights(void)
{
	static const uint32_t intervals[] = {1, 2, 100, 4096, 524288, LEAKWRAP_SAMPLE_MAX};
	uint64_t random = 1;

	for (unsigned i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++)
		for (unsigned j = 0; j < 10000; j++) {
			const uint32_t interval = intervals[i];
			const size_t size = 1 + draw_random(&random) % interval;
			const double wanted = -1 / expm1(-(double)size / interval);
			const double got = weight_of(size, interval);

			CHECK(size == interval ? got == 1 : fabs(got / wanted - 1) < 3e-6);
		}
	CHECK(weight_of(1000, LEAKWRAP_SAMPLE_CERTAIN) == 1);
	CHECK(weight_of(0, 1000) == 1);
	CHECK(weight_of(SIZE_MAX, LEAKWRAP_SAMPLE_MAX) == 1);
}

static void check_products(void)
{
	uint64_t random = 2;

	CHECK(leakwrap_weigh(UINT64_MAX >> 1, LEAKWRAP_WEIGHT_ONE) == UINT64_MAX >> 1);
	for (unsigned i = 0; i < 100000; i++) {
		const uint64_t number = draw_random(&random) % LEAKWRAP_SAMPLE_MAX;
		const uint64_t weight = leakwrap_sample_weight(number, LEAKWRAP_SAMPLE_MAX);
		const long double wanted =
		        (long double)number * (long double)weight / LEAKWRAP_WEIGHT_ONE;

		CHECK(fabsl((long double)leakwrap_weigh(number, weight) - wanted) <= 0.5L);
	}
}

static void check_roots(void)
{
	uint64_t random = 3;

	CHECK(leakwrap_square_root(0, 0) == 0);
	CHECK(leakwrap_square_root(0, UINT64_MAX) == UINT32_MAX);
	for (unsigned i = 0; i < 100000; i++) {
		const uint64_t high = draw_random(&random) >> (32 + draw_random(&random) % 32);
		const uint64_t low = draw_random(&random) >> draw_random(&random) % 64;
		const long double wanted = sqrtl((long double)high * 0x1p64L + (long double)low);
		const uint64_t got = leakwrap_square_root(high, low);

		CHECK(high == 0 ? got == (uint64_t)wanted
		                : fabsl((long double)got / wanted - 1) < 1e-9L);
	}
}

enum { INTERVAL = 1 << 16 };

/* -- counting down ----------------------------------------------------------------------------- */

static void start_thread(uint64_t seed)
{
	leakwrap_self = (struct leakwrap_thread){.random = draw_random(&seed)};
	leakwrap_sampling_enter_thread();
}

/* Returns a size: mostly small, and never sampled for certain. */
static size_t some_size(uint64_t *random)
{
	const uint64_t number = draw_random(random);

	return number % 64 == 0 ? number / 64 % INTERVAL : number / 64 % 300;
}

/* A thread that counts down samples the same blocks as a thread that looks at each block. */
static void check_same_sample(void)
{
	enum { BLOCKS = 200000 };
	static bool is_sampled[BLOCKS];
	uint64_t random = 7;
	uint32_t interval;
	unsigned passed = 0;

	start_thread(5);
	for (unsigned i = 0; i < BLOCKS; i++)
		is_sampled[i] = leakwrap_sampling_count(some_size(&random), &interval);
	random = 7;
	start_thread(5);
	for (unsigned i = 0; i < BLOCKS; i++) {
		const size_t size = some_size(&random);
		const bool passes = leakwrap_count_down(&leakwrap_self, size);

		passed += passes;
		CHECK(is_sampled[i] == (!passes && leakwrap_sampling_count(size, &interval)));
	}
	CHECK(passed > BLOCKS - BLOCKS / 20);
}

/* Blocks that are too large do not pass, and change nothing.  Nor do blocks of a thread that must
 * look again. */
static void check_what_does_not_pass(void)
{
	size_t large[] = {0,
	                  0,
	                  INTERVAL,
	                  INT32_MAX,
	                  SIZE_MAX / 2,
	                  SIZE_MAX / 2 + 1,
	                  SIZE_MAX / 2 + 2,
	                  SIZE_MAX - INTERVAL,
	                  SIZE_MAX - 1,
	                  SIZE_MAX};

	start_thread(6);
	large[0] = leakwrap_self.countdown;
	large[1] = leakwrap_self.countdown | 1u << 31;
	for (unsigned i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		const size_t before = leakwrap_self.countdown;

		CHECK(!leakwrap_count_down(&leakwrap_self, large[i]));
		CHECK(leakwrap_self.countdown == before);
	}
	CHECK(leakwrap_count_down(&leakwrap_self, large[0] - 1));
	CHECK(!leakwrap_count_down(&leakwrap_self, 1));

	start_thread(6);
	CHECK(leakwrap_count_down(&leakwrap_self, 0));
	leakwrap_sampling_look_again();
	CHECK(!leakwrap_count_down(&leakwrap_self, 0));
	leakwrap_sampling_switch(LEAKWRAP_SAMPLE_OFF);
	CHECK(leakwrap_self.state != leakwrap_skipping_state);
	leakwrap_sampling_enter_thread();
	CHECK(leakwrap_self.state == leakwrap_skipping_state);
	CHECK(leakwrap_leaves_state == LEAKWRAP_NO_STATE);
	CHECK(leakwrap_count_down(&leakwrap_self, UINT32_MAX - 1));
	leakwrap_thread_disable();
	CHECK(!leakwrap_count_down(&leakwrap_self, 0));
	leakwrap_sampling_switch(INTERVAL);
}

/* Threads that change their state keep the distance to their sampled byte. */
static void check_distance_is_kept(void)
{
	uint64_t distance;

	start_thread(9);
	distance = leakwrap_self.countdown + leakwrap_self.beyond;
	CHECK(leakwrap_count_down(&leakwrap_self, 10));
	leakwrap_thread_set_state(&leakwrap_self, LEAKWRAP_THREAD_INSIDE);
	CHECK(leakwrap_self.countdown == 0 && leakwrap_self.beyond == distance - 10);
	CHECK(!leakwrap_count_down(&leakwrap_self, 0));
}

/* From the first switch to the second, a wrapper goes on to the original.  That of calloc does not,
 * if calloc calls malloc. */
static void original(void)
{
}

static void look(void)
{
}

static leakwrap_function find_original(void)
{
	return original;
}

static leakwrap_function find_none(void)
{
	return NULL;
}

static struct leakwrap_skipped_call of_malloc LEAKWRAP_SKIPPED_CALLS_SECTION = {
        look, look, find_original, false};
static struct leakwrap_skipped_call of_calloc LEAKWRAP_SKIPPED_CALLS_SECTION = {
        look, look, find_original, true};
static struct leakwrap_skipped_call of_splitter LEAKWRAP_SKIPPED_CALLS_SECTION = {look, look,
                                                                                  find_none, false};

static void check_skipped_calls(bool are_passed)
{
	CHECK(of_malloc.next == (are_passed ? original : look));
	CHECK(of_calloc.next == look);
	CHECK(of_splitter.next == look);
}

/* A thread that has looked whether it samples records the block if all blocks are recorded now. */
static void check_overtaken_by_all(void)
{
	uint32_t interval = INTERVAL;

	start_thread(8);
	leakwrap_sampling_switch(0);
	CHECK(leakwrap_sampling_count(1, &interval) && interval == LEAKWRAP_SAMPLE_CERTAIN);
	leakwrap_sampling_enter_thread();
	CHECK(!leakwrap_count_down(&leakwrap_self, 1));
	leakwrap_sampling_switch(INTERVAL);
}

/* -- estimates --------------------------------------------------------------------------------- */

enum { SITES = 4 };

/* Three programs: the sizes of the blocks of each call site, and how many blocks it allocates. */
static const struct {
	size_t smallest, largest;
	unsigned blocks;
} programs[3][SITES] = {
        {{1, 16, 30000}, {24, 24, 20000}, {17, 64, 20000}, {200, 200, 3000}},
        {{100, 3000, 2000}, {4096, 4096, 400}, {1, 1, 30000}, {10000, 60000, 100}},
        {{1, 100000, 200}, {65535, 65536, 50}, {1000000, 2000000, 10}, {8, 8, 20000}},
};

struct result {
	double truth, estimate, variance; /* VARIANCE: as the tracer estimates it */
};

/* Allocates as PROGRAM does, the call sites by turns, and adds up what is sampled. */
static void run(unsigned program, uint64_t seed, struct result *result)
{
	unsigned left[SITES], all = 0;
	uint64_t random = 4; /* the same sizes in each run */

	start_thread(seed);
	for (unsigned i = 0; i < SITES; i++) {
		result[i] = (struct result){0, 0, 0};
		left[i] = programs[program][i].blocks;
		all += left[i];
	}
	for (; all > 0; all--) {
		unsigned site = draw_random(&random) % SITES;
		uint32_t interval;
		size_t size;

		while (left[site] == 0)
			site = (site + 1) % SITES;
		left[site]--;
		size = programs[program][site].smallest +
		       draw_random(&random) % (programs[program][site].largest -
		                               programs[program][site].smallest + 1);
		result[site].truth += (double)size;
		if (!leakwrap_sampling_count(size, &interval)) {
			CHECK(size < INTERVAL);
			continue;
		}
		CHECK((interval == LEAKWRAP_SAMPLE_CERTAIN) == (size >= INTERVAL));
		result[site].estimate +=
		        (double)leakwrap_weigh(size, leakwrap_sample_weight(size, interval));
		result[site].variance += weight_of(size, interval) *
		                         (weight_of(size, interval) - 1) * (double)size *
		                         (double)size;
	}
}

/* Runs PROGRAM with many seeds. The mean of the estimates must be that of the truth within five
 * standard errors. Their spread must be the one that the tracer estimates. */
static void check_estimates(unsigned program, unsigned runs)
{
	double sum[SITES] = {0}, squares[SITES] = {0}, variance[SITES] = {0};
	struct result result[SITES] = {0};

	for (unsigned i = 0; i < runs; i++) {
		run(program, i, result);
		for (unsigned site = 0; site < SITES; site++) {
			const double off = result[site].estimate - result[site].truth;

			sum[site] += off;
			squares[site] += off * off;
			variance[site] += result[site].variance;
		}
	}
	for (unsigned site = 0; site < SITES; site++) {
		const double theory = variance[site] / runs, spread = squares[site] / runs;
		const double of_spread = sqrt(2.0 / runs); /* the standard error of a variance */

		fprintf(stderr, "program %u, site %u: %.0f bytes, off by %.2f %%; spread %.3f\n",
		        program, site, result[site].truth,
		        100 * sum[site] / runs / result[site].truth,
		        theory > 0 ? sqrt(spread / theory) : 1);
		CHECK(fabs(sum[site] / runs) <= 5 * sqrt(theory / runs));
		CHECK(theory == 0 ? spread == 0 : fabs(spread / theory - 1) < 5.5 * of_spread);
	}
}

int main(void)
{
	const char *text = getenv("SAMPLING_RUNS");

	check_weights();
	check_products();
	check_roots();
	check_skipped_calls(false);
	leakwrap_sampling_switch(INTERVAL);
	check_skipped_calls(true);
	check_same_sample();
	check_distance_is_kept();
	check_what_does_not_pass();
	check_skipped_calls(false);
	check_overtaken_by_all();
	for (unsigned program = 0; program < 3; program++)
		check_estimates(program, text ? (unsigned)atoi(text) : 40);
	return 0;
}
