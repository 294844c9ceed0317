/* rule_cache.c - rule_cache.c in wrap/unwind: a rule is found at its own address alone, while the
 * caches grow with the addresses, and after the modules have changed.
 * sources: wrap/unwind/rule_cache.c wrap/base/thread.c wrap/base/options.c wrap/base/loss.c
 * sources: wrap/port/linux*.c
 */
#include "wrap/unwind/rule_cache.h"
#include "wrap/module/registry.h"
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW = 200, MANY = 40000, THREADS = 4 };

static _Atomic unsigned generation = 1;

unsigned leakwrap_modules_generation(void)
{
	return atomic_load(&generation);
}

/* Returns the return address with NUMBER.  The addresses cover 40 MB of code. */
static uintptr_t address(unsigned number)
{
	return 0x55550000u + ((uintptr_t)number * 1021 << LEAKWRAP_PC_SHIFT);
}

/* Returns the rule that belongs to the address with NUMBER, and to few others.  Every 61st is
 * larger than a slot's field. */
static struct leakwrap_rule rule_of(unsigned number)
{
	const bool is_wide = number % 61 == 0;

	return (struct leakwrap_rule){
	        .kind = LEAKWRAP_RULE_FRAME,
	        .ra_where = LEAKWRAP_SAVED_AT_CFA,
	        .cfa_offset = (int32_t)(number % 4001 + 2 + (is_wide ? 5000 : 0)) * LEAKWRAP_WORD,
	        .ra_offset = -LEAKWRAP_WORD,
	};
}

static bool is_found(struct leakwrap_rule_cache cache, unsigned number)
{
	const leakwrap_rule_slot slot = leakwrap_rule_cache_load(cache, address(number));
	const struct leakwrap_rule wanted = rule_of(number);
	struct leakwrap_rule rule;

	if (!leakwrap_rule_slot_is_for(slot, address(number)))
		return false;
	rule = leakwrap_rule_slot_rule(slot);
	CHECK(memcmp(&rule, &wanted, sizeof(rule)) == 0);
	return true;
}

/* Stores the rules from START to END, each if it is not found, as walks do. IS_ALONE: no other
 * thread replaces them. */
static void store(unsigned start, unsigned end, bool is_alone)
{
	for (unsigned i = start; i < end; i++) {
		const struct leakwrap_rule_cache cache = leakwrap_rule_cache();
		const struct leakwrap_rule rule = rule_of(i);

		if (is_found(cache, i))
			continue;
		leakwrap_rule_cache_store(cache, address(i), &rule);
		CHECK(is_found(cache, i) || !is_alone);
	}
}

static unsigned count_found(unsigned count)
{
	const struct leakwrap_rule_cache cache = leakwrap_rule_cache();
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++)
		found += is_found(cache, i);
	return found;
}

static void *store_many(void *start)
{
	const unsigned first = *(const unsigned *)start;

	store(first, first + MANY / THREADS, false);
	return NULL;
}

#if defined __x86_64__ && !defined __SANITIZE_THREAD__

/* Stores rules of two addresses in turn that have one slot in all caches, COUNT times. */
static void replace(unsigned count)
{
	static unsigned turn;

	for (; count > 0; count--) {
		const uintptr_t pc = 0x400000 + (turn++ % 2 << LEAKWRAP_RULE_SLOTS_LAST);
		const struct leakwrap_rule rule = rule_of(1);

		leakwrap_rule_cache_store(leakwrap_rule_cache(), pc, &rule);
	}
}

static unsigned steps, grow_at;

/* Other threads make the cache grow to its full size. */
static void on_trap(int number)
{
	(void)number;
	if (++steps == grow_at)
		replace(1u << LEAKWRAP_RULE_SLOTS_LAST);
}

/* In a child: stores the rule after which the cache has to grow, with a trap after each
 * instruction.  At the instruction GROW_AT other threads make it grow to its full size.  Returns
 * false if there are fewer instructions. */
static bool grow_between(void)
{
	const pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		replace(1u << LEAKWRAP_RULE_SLOTS_FIRST >> 2);
		__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
		replace(1);
		__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
		CHECK(leakwrap_rule_cache().mask + 1 ==
		      (uintptr_t)1 << (steps >= grow_at ? LEAKWRAP_RULE_SLOTS_LAST
		                                        : LEAKWRAP_RULE_SLOTS_FIRST + 1));
		_exit(steps >= grow_at ? 0 : 2);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	CHECK(WEXITSTATUS(status) != 1);
	return WEXITSTATUS(status) == 0;
}

/* A thread makes the cache larger, and others do so meanwhile.  It does not become smaller. */
static void check_growth_between(void)
{
	const struct sigaction action = {.sa_handler = on_trap};

	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	for (grow_at = 1; grow_between(); grow_at++)
		;
	CHECK(grow_at > 100);
}

#else

static void check_growth_between(void)
{
}

#endif

/* An address whose tag does not fit into a slot is not taken for another address. */
static void store_far(void)
{
#if UINTPTR_MAX > UINT32_MAX
	const unsigned first_bit_too_many = LEAKWRAP_PC_SHIFT + LEAKWRAP_RULE_SLOTS_FIRST +
	                                    sizeof(leakwrap_rule_slot) * 8 - LEAKWRAP_RULE_BITS;
	const uintptr_t far = address(1) | (uintptr_t)1 << first_bit_too_many;
	const struct leakwrap_rule rule = rule_of(1);

	leakwrap_rule_cache_store(leakwrap_rule_cache(), far, &rule);
	CHECK(count_found(MANY) == 0);
#endif
}

/* One large rule of many addresses takes the room of one. */
static void check_shared_rule(void)
{
	const struct leakwrap_rule rule = rule_of(61);

	for (unsigned i = MANY; i < MANY + FEW; i++) {
		const struct leakwrap_rule_cache cache = leakwrap_rule_cache();
		leakwrap_rule_slot slot;
		struct leakwrap_rule found;

		leakwrap_rule_cache_store(cache, address(i), &rule);
		slot = leakwrap_rule_cache_load(cache, address(i));
		CHECK(leakwrap_rule_slot_is_for(slot, address(i)));
		found = leakwrap_rule_slot_rule(slot);
		CHECK(memcmp(&found, &rule, sizeof(rule)) == 0);
	}
}

int main(void)
{
	static const unsigned start[THREADS] = {0, MANY / THREADS, MANY / 2, MANY / 4 * 3};
	const struct leakwrap_rule rule = rule_of(1);
	struct leakwrap_rule_cache before;
	pthread_t threads[THREADS];

	check_growth_between();
	/* Few addresses leave the cache as small as it begins. */
	for (unsigned round = 0; round < 4; round++)
		store(0, FEW, true);
	CHECK(count_found(FEW) > FEW / 2);
	CHECK(leakwrap_rule_cache().mask + 1 == (uintptr_t)1 << LEAKWRAP_RULE_SLOTS_FIRST);

	/* Many make it grow to its full size, and no address finds the rule of another. */
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, store_many, (void *)&start[i]) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(leakwrap_rule_cache().mask + 1 == (uintptr_t)1 << LEAKWRAP_RULE_SLOTS_LAST);
	store(0, FEW, true);
	CHECK(count_found(FEW) == FEW);
	CHECK(count_found(MANY) > MANY / 8);

	/* When the modules have changed, it is empty, also of a rule that comes late. */
	before = leakwrap_rule_cache();
	atomic_fetch_add(&generation, 1);
	CHECK(count_found(MANY) == 0);
	leakwrap_rule_cache_store(before, address(1), &rule);
	CHECK(count_found(MANY) == 0);
	store_far();
	check_shared_rule();
	return 0;
}
