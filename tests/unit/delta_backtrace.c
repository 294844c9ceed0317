/* delta_backtrace.c - a backtrace that is stored as a delta is read as it was, whatever frames
 * differ from those of the base, up to the greatest depth.
 * sources: wrap/site/delta_backtrace.c wrap/site/base_backtrace.c wrap/base/byte_pool.c
 * sources: wrap/base/arena.c wrap/base/locked_uthash.c wrap/base/loss.c wrap/base/options.c
 * sources: wrap/port/linux*.c */
#include "wrap/port/port.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/site/delta_backtrace.h"
#include "one_module.h"
#include "unit.h"

#include <string.h>

enum { ROUNDS = 3000 };

static uint32_t next_random(void)
{
	static uint64_t state;

	return (uint32_t)draw_random(&state) >> 8;
}

/* A flat delta has room for offsets of 16 bits.  Backtraces with others are not stored so, since
 * they would be read wrongly. */
static void encode_flat(void)
{
	static const int64_t offsets[] = {INT16_MIN,  INT16_MAX,      INT16_MIN - 1, INT16_MAX + 1,
	                                  UINT16_MAX, 3 * UINT16_MAX, INT32_MIN};
	enum { DEPTH = 3 };
	uintptr_t pcs[DEPTH] = {0x77770000, 0x77880000, 0x77990000}, read[DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs, .max = DEPTH, .depth = DEPTH};
	struct leakwrap_base_backtrace *base;
	const struct leakwrap_base_backtrace *unused;
	const uint8_t *stored;

	leakwrap_lock(&leakwrap_tables_lock);
	base = leakwrap_base_backtrace_make(&trace, false);
	leakwrap_unlock(&leakwrap_tables_lock);
	CHECK(base);
	for (unsigned i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		const bool fits = offsets[i] >= INT16_MIN && offsets[i] <= INT16_MAX;
		leakwrap_pool_offset bytes;

		pcs[1] = 0x77880000 + (uintptr_t)offsets[i];
		bytes = leakwrap_delta_encode_flat(&trace, 77, base);
		CHECK((bytes != 0) == fits);
		if (!fits)
			continue;
		CHECK(leakwrap_delta_read_site(bytes, &stored, &unused) == 77);
		CHECK(leakwrap_delta_is_flat(stored));
		leakwrap_delta_read_flat(stored, base, read);
		CHECK(memcmp(read, pcs, sizeof(read)) == 0);
	}
}

int main(void)
{
	static uintptr_t base[LEAKWRAP_MAX_DEPTH], pcs[LEAKWRAP_MAX_DEPTH];
	uintptr_t read[LEAKWRAP_MAX_DEPTH];

	for (unsigned round = 0; round < ROUNDS; round++) {
		const unsigned depth = 1 + next_random() % LEAKWRAP_MAX_DEPTH;
		const unsigned different = next_random() % (depth + 1);
		const uint32_t range = 1u << (2 + next_random() % 20);
		struct leakwrap_trace trace = {.pcs = pcs, .max = depth, .depth = depth};
		const struct leakwrap_base_backtrace *unused;
		const uint8_t *offsets;
		leakwrap_pool_offset bytes;

		for (unsigned i = 0; i < depth; i++) {
			base[i] = 0x55550000 + next_random();
			pcs[i] = base[i];
			if (i < different && next_random() % 4 == 0)
				pcs[i] = base[i] + next_random() % range - range / 2;
		}
		leakwrap_lock(&leakwrap_tables_lock);
		bytes = leakwrap_delta_encode(&trace, 77, base, true);
		leakwrap_unlock(&leakwrap_tables_lock);
		CHECK(bytes != 0);
		CHECK(leakwrap_delta_read_site(bytes, &offsets, &unused) == 77);
		memcpy(read, base, sizeof(read));
		leakwrap_delta_add_offsets(offsets, depth, read);
		CHECK(memcmp(read, pcs, depth * sizeof(read[0])) == 0);
	}
	encode_flat();
	return 0;
}
