/* hash_table.c - tables that are read without a lock (wrap/base/hash_table.c). Threads find every
 * entry while the table grows. Without memory, the table goes on until it is full, and is never
 * overfull. Keys of regular stacks do not cluster (wrap/site/stack_hash.h).
 * sources: wrap/base/hash_table.c wrap/base/arena.c wrap/base/locked_uthash.c wrap/port/linux*.c */
#include "wrap/base/arena.h"
#include "wrap/base/hash_table.h"
#include "wrap/port/port.h"
#include "wrap/base/locked_uthash.h"
#include "unit.h"
#include "wrap/site/stack_hash.h"

#include <pthread.h>
#include <string.h>

/* An entry is its number. The key follows from the number. */
typedef _Atomic uint32_t entry;

static uint64_t choice_for(uint32_t number)
{
	uint64_t state = number;

	return draw_random(&state);
}

static bool is_used(const void *one)
{
	return atomic_load((const entry *)one) != 0;
}

static uint64_t choice_of(const void *one)
{
	return choice_for(atomic_load((const entry *)one));
}

static const struct leakwrap_hash_table_kind kind = {.size = sizeof(entry),
                                                     .buckets_per_4 = 5,
                                                     .max_range = UINT32_MAX,
                                                     .is_used = is_used,
                                                     .hash = choice_of};

static bool add(struct leakwrap_hash_table *_Atomic *table, uint32_t number)
{
	entry *room;

	leakwrap_lock(&leakwrap_tables_lock);
	room = leakwrap_hash_table_reserve(table, &kind, choice_for(number));
	if (room) {
		CHECK(atomic_load(room) == 0);
		atomic_store_explicit(room, number, memory_order_release);
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	return room != NULL;
}

static bool has(const struct leakwrap_hash_table *table, uint32_t number)
{
	const entry *one = leakwrap_hash_table_entries(table);
	uint32_t found;

	one += leakwrap_hash_table_bucket(table, choice_for(number));
	while ((found = atomic_load_explicit(one, memory_order_acquire)) != 0) {
		if (found == number)
			return true;
		one++;
	}
	return false;
}

/* -- growing while others look ----------------------------------------------------------------- */

enum { NUMBERS = 60000, READERS = 2 };

static struct leakwrap_hash_table *_Atomic shared = &leakwrap_hash_table_empty.table;
static _Atomic uint32_t added;

/* Finds what was added before, unless the table has been replaced meanwhile. */
static void *look(void *seed)
{
	uint64_t random = (uintptr_t)seed, found = 0;
	uint32_t now;

	while ((now = atomic_load(&added)) < NUMBERS) {
		struct leakwrap_hash_table *table =
		        atomic_load_explicit(&shared, memory_order_acquire);
		const uint32_t number = 1 + (uint32_t)(draw_random(&random) % (now + 1));

		if (number > now)
			continue;
		if (has(table, number))
			found++;
		else
			CHECK(atomic_load(&shared) != table);
	}
	CHECK(found > 0);
	return NULL;
}

static void grow(void)
{
	pthread_t reader[READERS];

	/* Enough for the last two tables. The limit does not count the tables before them. */
	leakwrap_pages_limit((size_t)1100 << 10);
	CHECK(add(&shared, 1));
	atomic_store(&added, 1);
	for (uintptr_t i = 0; i < READERS; i++)
		CHECK(pthread_create(&reader[i], NULL, look, (void *)(i + 1)) == 0);
	for (uint32_t number = 2; number <= NUMBERS; number++) {
		CHECK(add(&shared, number));
		if (number % 1024 == 0 || number < 300)
			for (uint32_t one = 1; one <= number; one++)
				CHECK(has(atomic_load(&shared), one));
		atomic_store(&added, number);
	}
	for (int i = 0; i < READERS; i++)
		pthread_join(reader[i], NULL);
	CHECK(atomic_load(&shared)->count == NUMBERS);
	for (uint32_t one = 1; one <= NUMBERS; one++)
		CHECK(has(atomic_load(&shared), one));
	/* No entry is found in a discarded table. */
	leakwrap_hash_table_discard(atomic_load(&shared), &kind);
	CHECK(!has(atomic_load(&shared), 1));
}

/* -- no memory --------------------------------------------------------------------------------- */

static void fill(uint32_t expected)
{
	static struct leakwrap_hash_table *_Atomic table = &leakwrap_hash_table_empty.table;
	uint32_t held = 0;

	CHECK(!has(atomic_load(&table), 1));
	CHECK(add(&table, 0x80000000) && has(atomic_load(&table), 0x80000000));
	leakwrap_pages_limit(1);
	while (leakwrap_arena_take(16)) /* empties the arena */
		;
	for (uint32_t number = 1; number < 5 * expected; number++)
		held += add(&table, number);
	/* The table takes no more entries than it was made for, so that a search stays short. */
	CHECK(held + 1 == expected);
	for (uint32_t number = 1; number < 5 * expected; number++)
		held -= has(atomic_load(&table), number);
	CHECK(held == 0);
}

/* -- copies ------------------------------------------------------------------------------------ */

/* An empty entry that cannot be written. */
#define CLOSED ((uint32_t)1 << 31)

static bool is_open_and_used(const void *one)
{
	return is_used(one) && atomic_load((const entry *)one) != CLOSED;
}

static void set_closed(void *one, bool is_closed)
{
	uint32_t from = is_closed ? 0 : CLOSED;

	atomic_compare_exchange_strong((entry *)one, &from, is_closed ? CLOSED : 0);
}

static bool is_even(const void *one)
{
	return atomic_load((const entry *)one) % 2 == 0;
}

/* A copy has the entries that are kept and room for more.  Nothing can be written to the old
 * table. */
static void copy(void)
{
	enum { COUNT = 5000, MORE = 3000 };
	struct leakwrap_hash_table_kind closing = kind;
	static struct leakwrap_hash_table *_Atomic table = &leakwrap_hash_table_empty.table;
	struct leakwrap_hash_table *copied;
	const entry *old;

	for (uint32_t number = 1; number <= COUNT; number++)
		CHECK(add(&table, number));
	closing.is_used = is_open_and_used;
	closing.set_closed = set_closed;
	leakwrap_lock(&leakwrap_tables_lock);
	copied = leakwrap_hash_table_copy(atomic_load(&table), &closing, is_even, MORE);
	leakwrap_unlock(&leakwrap_tables_lock);
	CHECK(copied && copied->count == COUNT / 2);
	for (uint32_t number = 1; number <= COUNT; number++)
		CHECK(has(copied, number) == (number % 2 == 0));
	old = leakwrap_hash_table_entries(atomic_load(&table));
	for (size_t i = 0; i < atomic_load(&table)->size; i++)
		CHECK(atomic_load(&old[i]) != 0);
	atomic_store(&table, copied);
	for (uint32_t number = COUNT + 1; number <= COUNT + MORE; number++)
		CHECK(add(&table, number));
	CHECK(atomic_load(&table) == copied);
}

/* -- tables that were replaced ----------------------------------------------------------------- */

/* Returns how much address space the process has, in bytes. */
static size_t address_space(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	CHECK(statm && fscanf(statm, "%lu", &pages) == 1);
	fclose(statm);
	return (size_t)pages * leakwrap_page_size();
}

static bool is_small(const void *one)
{
	return atomic_load((const entry *)one) <= 100;
}

/* A table that grows again and again, and is copied, does not take ever more address space. */
static void replace(void)
{
	enum { COUNT = 20000, CYCLES = 100, WARM = 10 };
	static struct leakwrap_hash_table *_Atomic table = &leakwrap_hash_table_empty.table;
	static struct leakwrap_replaced_tables replaced;
	size_t before = 0;

	for (int cycle = 0; cycle < CYCLES; cycle++) {
		struct leakwrap_hash_table *copied;

		if (cycle == WARM)
			before = address_space();
		for (uint32_t number = cycle == 0 ? 1 : 101; number <= COUNT; number++) {
			if (!leakwrap_hash_table_has_room(atomic_load(&table), &kind))
				CHECK(leakwrap_hash_table_grow(&table, &kind, &replaced));
			CHECK(add(&table, number));
		}
		CHECK(replaced.count > 3);
		copied = leakwrap_hash_table_copy(atomic_load(&table), &kind, is_small, 0);
		CHECK(copied);
		leakwrap_hash_table_retire(atomic_load(&table), &kind, &replaced);
		CHECK(has(atomic_load(&table), COUNT));
		atomic_store(&table, copied);
		leakwrap_replaced_tables_free(&replaced);
		CHECK(replaced.count == 0 && has(copied, 100) && !has(copied, 101));
	}
	CHECK(address_space() < before + ((size_t)2 << 20));
}

/* -- keys -------------------------------------------------------------------------------------- */

enum { WORDS = 12, KEYS = 10000 };

/* Returns how many buckets the keys of KEYS stacks choose. Three words differ by STEP from one
 * stack to the next. Each word lies GAP words behind the one before it. The table has four times as
 * many entries. */
static uint32_t chosen(uintptr_t step, unsigned gap)
{
	static const struct leakwrap_hash_table table = {.range = (size_t)4 * KEYS};
	static bool is_chosen[(size_t)4 * KEYS];
	uint32_t count = 0;

	memset(is_chosen, 0, sizeof(is_chosen));
	for (uint32_t key = 0; key < KEYS; key++) {
		uintptr_t word[WORDS] = {0};
		struct leakwrap_stack_hash sum = leakwrap_stack_hash_start(0, 1, 0, 0, 0, 0);
		bool *at;

		word[1] = key % 20 * step;
		word[1 + gap] = key / 20 % 20 * step;
		word[1 + 2 * gap] = key / 400 * step;
		for (unsigned i = 0; i < WORDS; i += LEAKWRAP_STACK_HASH_GROUP)
			sum = leakwrap_stack_hash_accumulate(sum, word[i], word[i + 1], word[i + 2],
			                                     word[i + 3]);
		at = &is_chosen[leakwrap_hash_table_bucket(
		        &table, leakwrap_stack_hash_finalize(leakwrap_stack_hash_combine(sum)))];
		count += !*at;
		*at = true;
	}
	return count;
}

/* Of 40,000 buckets, 10,000 keys choose 8,848 by chance. Some regular distances are worse: one key
 * in ten more finds its bucket taken. Sums alone would choose 2,678 in the worst case. */
static void spread(void)
{
	for (uintptr_t step = 1; step < 1 << 13; step += step / 8 + 1)
		for (unsigned gap = 1; gap <= 5; gap++)
			CHECK(chosen(step, gap) > 7800);
}

int main(void)
{
	grow();
	if (IS_SLOW)
		return 0;
	copy();
	replace();
	spread();
	fill(200);
	return 0;
}
