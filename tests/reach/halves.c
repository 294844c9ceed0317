/* halves.c - keeps blocks by pointers of 32 bits, as GLib's hash tables do. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 100, LOST = 7 };

static uint32_t *volatile table;
static char *volatile large; /* mmap(2) may place it above 4 GiB */
static uint32_t inner[4];

/* With COUNT, the word looks like an address between the heap and LARGE. */
static volatile struct {
	uint32_t pointer, count;
} counted[KEPT];

static NOINLINE void make(void)
{
	uint32_t *const pointers = malloc(sizeof(*pointers) * 2 * KEPT);

	/* A kept block leads to another one by a whole pointer.  The words between lead nowhere. */
	for (unsigned i = 0; i < 2 * KEPT; i++) {
		void **const block = malloc(40);

		*block = malloc(30);
		pointers[i] = (uint32_t)(uintptr_t)block;
	}
	table = pointers;
	large = malloc(1 << 20);
	/* Halves into blocks count for nothing, and neither does half a pointer beyond 4 GiB. */
	for (unsigned i = 0; i < 4; i++)
		inner[i] = (uint32_t)(uintptr_t)malloc(1000) + 16;
	for (unsigned i = 0; i < LOST; i++)
		*(void *volatile *)malloc(200) = NULL;
	for (unsigned i = 0; i < KEPT; i++) {
		counted[i].pointer = (uint32_t)(uintptr_t)malloc(50);
		counted[i].count = i + 1;
	}
}

int main(void)
{
	make();
	clear_stack();
	return raise(SIGUSR1);
}
