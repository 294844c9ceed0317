/* packed_pointers.c - keeps blocks by pointers with other data in the bits that no address needs,
 * as lock-free lists and values of scripts have them.  Some blocks are parts of a pool, and not
 * aligned.  Loses other blocks: such pointers lead to their middle, or have a larger address. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"

enum { KEPT = 2000, LOST = 3, INSIDE = 8, UNALIGNED = 3 };

/* Bits of an address: 47, of which AArch64 has one more. */
#ifdef __aarch64__
enum { BITS = 48 };
#else
enum { BITS = 47 };
#endif

static struct {
	uintptr_t volatile counted[KEPT], values[KEPT], inside[LOST], above[LOST];
	uintptr_t volatile unaligned[UNALIGNED];
	char *pool;
} kept;

struct node {
	uintptr_t volatile next;
	uintptr_t data[2];
};

static uintptr_t volatile list;

static NOINLINE void keep(void)
{
	for (uintptr_t i = 0; i < KEPT; i++) {
		struct node *const node = malloc(sizeof *node);

		if (!node)
			abort();
		kept.counted[i] = (uintptr_t)malloc(40) | i << 48;
		kept.values[i] = (uintptr_t)malloc(56) | (UINTPTR_MAX - i % 16) << BITS;
		node->next = list;
		list = (uintptr_t)node | (i + 1) << 48;
	}
}

static NOINLINE void keep_unaligned(void)
{
	kept.pool = malloc((size_t)UNALIGNED * 51);
	if (!kept.pool)
		abort();
	for (uintptr_t i = 0; i < UNALIGNED; i++) {
		char *const block = kept.pool + i * 51 + 4;

		leakwrap_record(block, 40);
		kept.unaligned[i] = (uintptr_t)block | (i + 1) << 48;
	}
}

static NOINLINE void lose(void)
{
	for (uintptr_t i = 0; i < LOST; i++) {
		char *const block = malloc(72);

		kept.inside[i] = (uintptr_t)(block + INSIDE) | (i + 1) << 48;
		kept.above[i] = (uintptr_t)malloc(88) ^ (uintptr_t)1 << (BITS - 1);
	}
}

int main(void)
{
	keep();
	keep_unaligned();
	lose();
	clear_stack();
	raise(SIGUSR1);
	return 0;
}
