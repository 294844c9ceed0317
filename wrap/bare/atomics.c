/* atomics.c - the atomic operations that compilers call on processors without such instructions
 * (Armv6-M, Armv5).  Source: GCC manual, "Built-in Functions for Memory Model Aware Atomic
 * Operations".  They take the lock of leakwrap_bare (port.c), and are not atomic without that lock.
 * They are weak: a program may bring its own. */
#include "wrap/port/port.h"

#if !defined(__ARM_FEATURE_LDREX)

#include <stdbool.h>
#include <stdint.h>

/* C code cannot define these names: they are the compiler's own. */
#define NAMED(name) __asm__(name) __attribute__((weak))

void leakwrap_synchronize(void) NAMED("__sync_synchronize");
uint8_t leakwrap_exchange_1(volatile uint8_t *word, uint8_t value, int order)
        NAMED("__atomic_exchange_1");
uint32_t leakwrap_exchange_4(volatile uint32_t *word, uint32_t value, int order)
        NAMED("__atomic_exchange_4");
uint32_t leakwrap_fetch_add_4(volatile uint32_t *word, uint32_t value, int order)
        NAMED("__atomic_fetch_add_4");
uint32_t leakwrap_fetch_sub_4(volatile uint32_t *word, uint32_t value, int order)
        NAMED("__atomic_fetch_sub_4");
bool leakwrap_compare_exchange_4(volatile uint32_t *word, uint32_t *expected, uint32_t value,
                                 bool weak, int success, int failure)
        NAMED("__atomic_compare_exchange_4");

static struct leakwrap_lock lock;

/* Only the compiler must not reorder: there is one processor. */
void leakwrap_synchronize(void)
{
	__asm__ volatile("" ::: "memory");
}

uint8_t leakwrap_exchange_1(volatile uint8_t *word, uint8_t value, int order)
{
	uint8_t before;

	(void)order;
	leakwrap_lock(&lock);
	before = *word;
	*word = value;
	leakwrap_unlock(&lock);
	return before;
}

uint32_t leakwrap_exchange_4(volatile uint32_t *word, uint32_t value, int order)
{
	uint32_t before;

	(void)order;
	leakwrap_lock(&lock);
	before = *word;
	*word = value;
	leakwrap_unlock(&lock);
	return before;
}

uint32_t leakwrap_fetch_add_4(volatile uint32_t *word, uint32_t value, int order)
{
	uint32_t before;

	(void)order;
	leakwrap_lock(&lock);
	before = *word;
	*word = before + value;
	leakwrap_unlock(&lock);
	return before;
}

uint32_t leakwrap_fetch_sub_4(volatile uint32_t *word, uint32_t value, int order)
{
	return leakwrap_fetch_add_4(word, -value, order);
}

bool leakwrap_compare_exchange_4(volatile uint32_t *word, uint32_t *expected, uint32_t value,
                                 bool weak, int success, int failure)
{
	uint32_t before;
	bool equal;

	(void)weak, (void)success, (void)failure;
	leakwrap_lock(&lock);
	before = *word;
	equal = before == *expected;
	if (equal)
		*word = value;
	else
		*expected = before;
	leakwrap_unlock(&lock);
	return equal;
}

#endif
