/* delta_backtrace.c - a backtrace that is stored as a delta is read as it was, whatever frames
 * differ from those of the base, up to the greatest depth.  A base backtrace holds the modules of a
 * plugin until it is freed, and finds no high halves that were removed.
 * sources: wrap/site/delta_backtrace.c wrap/site/base_backtrace.c wrap/base/byte_pool.c
 * sources: wrap/base/arena.c wrap/base/locked_uthash.c wrap/base/loss.c wrap/base/options.c
 * sources: wrap/port/linux*.c */
#include "wrap/port/port.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/thread.h"
#include "wrap/module/registry.h"
#include "wrap/site/delta_backtrace.h"
#include "unit.h"

#include <string.h>

/* -- a program and a plugin -------------------------------------------------------------------- */

#define PLUGIN ((uintptr_t)0x99990000)

_Thread_local struct leakwrap_thread leakwrap_self;

static struct leakwrap_modules snapshot;
static const struct leakwrap_module program = {.is_program = true, .is_permanent = true};
static const struct leakwrap_module plugin = {.serial = 7};
const struct leakwrap_modules *_Atomic leakwrap_modules_current = &snapshot;

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	return address - PLUGIN < 0x10000 ? &plugin : &program;
}

const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address)
{
	(void)modules;
	return leakwrap_module_at(address);
}

static unsigned holds;

void leakwrap_modules_hold(const struct leakwrap_modules *modules)
{
	CHECK(modules == &snapshot);
	holds++;
}

void leakwrap_modules_release(const struct leakwrap_modules *modules)
{
	CHECK(modules == &snapshot && holds > 0);
	holds--;
}

/* ---------------------------------------------------------------------------------------------- */

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
	static const int64_t offsets[] = {INT16_MIN,     INT16_MAX,  INT16_MIN - 1,
	                                  INT16_MAX + 1, UINT16_MAX, (int64_t)3 * UINT16_MAX,
	                                  INT32_MIN};
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

static void hold_modules(void)
{
	uintptr_t pcs[] = {0x77770000, PLUGIN + 100, 0x77880000};
	const struct leakwrap_trace in_plugin = {.pcs = pcs, .depth = 3};
	const struct leakwrap_trace in_program = {.pcs = pcs, .depth = 1};
	struct leakwrap_base_backtrace *base[2];

	leakwrap_lock(&leakwrap_tables_lock);
	base[0] = leakwrap_base_backtrace_make(&in_program, false);
	CHECK(base[0] && holds == 0);
	base[1] = leakwrap_base_backtrace_make(&in_plugin, false);
	CHECK(base[1] && holds == 1);
	leakwrap_base_backtrace_free(base[0]);
	CHECK(holds == 1);
	leakwrap_base_backtrace_free(base[1]);
	CHECK(holds == 0);
	leakwrap_unlock(&leakwrap_tables_lock);
}

/* High halves that a sweep has removed are made anew, also if they were wanted last. */
static void sweep_high_halves(void)
{
	uintptr_t pcs[] = {0x77770000};
	const struct leakwrap_trace trace = {.pcs = pcs, .depth = 1};
	const uint32_t *before, *after, *kept;
	struct leakwrap_high_halves *removed;

	leakwrap_lock(&leakwrap_tables_lock);
	CHECK(leakwrap_high_halves_intern(&trace, false, &before));
	leakwrap_high_halves_begin_sweep();
	removed = leakwrap_high_halves_sweep();
	CHECK(leakwrap_high_halves_intern(&trace, false, &after));
	CHECK(!before || (removed && after != before));
	leakwrap_high_halves_begin_sweep();
	leakwrap_high_halves_keep(after);
	CHECK(!leakwrap_high_halves_sweep());
	CHECK(leakwrap_high_halves_intern(&trace, false, &kept) && kept == after);
	leakwrap_high_halves_give(removed);
	leakwrap_unlock(&leakwrap_tables_lock);
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
	hold_modules();
	sweep_high_halves();
	return 0;
}
