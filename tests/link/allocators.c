/* allocators.c - threads hold blocks of all sizes, by all functions of the allocator, and dump
 * meanwhile. Prints which allocator the program has, whether its blocks are known to lie apart, and
 * how many bytes and blocks live at the end. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leakwrap.h"
#include "tests/random.h"
#include "wrap/live/heap_allocator.h"

enum { THREADS = 4, SLOTS = 500, STEPS = 40000 };

/* Each exists only in jemalloc, tcmalloc, mimalloc or dense_malloc.c. */
int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
        __attribute__((weak));
const char *tc_version(int *major, int *minor, const char **patch) __attribute__((weak));
int mi_version(void) __attribute__((weak));
extern int dense_calls __attribute__((weak));

/* The allocators' malloc under other names. */
void *mallocx(size_t size, int flags) __attribute__((weak));
void *tc_malloc(size_t size) __attribute__((weak));
void *mi_malloc(size_t size) __attribute__((weak));

static _Atomic size_t live_bytes, live_blocks;

struct slot {
	unsigned char *block;
	size_t size;
};

static void *by_any(unsigned random, size_t size)
{
	void *block = NULL;

	switch (random % 6) {
	case 0:
		return calloc(1, size);
	case 1:
		return memalign(64, size);
	case 2:
		return posix_memalign(&block, 4096, size) == 0 ? block : NULL;
	case 3:
		return aligned_alloc(16, size);
	default:
		return malloc(size);
	}
}

static void release(struct slot *slot)
{
	if (slot->size > 0 && (slot->block[0] != (unsigned char)slot->size ||
	                       slot->block[slot->size - 1] != (unsigned char)slot->size)) {
		printf("a block was overwritten\n");
		exit(1);
	}
	free(slot->block);
	slot->block = NULL;
}

static void *work(void *argument)
{
	struct slot slots[SLOTS] = {{NULL, 0}};
	uint64_t state = (uintptr_t)argument;

	for (int step = 0; step < STEPS; step++) {
		const unsigned random = (unsigned)draw_random(&state);
		struct slot *slot = &slots[(random >> 16) % SLOTS];
		size_t size =
		        (random >> 8) % 50 == 0 ? (random >> 4) % 300000 : (random >> 4) % 400;

		if (step == STEPS / 2)
			leakwrap_dump(-1);
		size = (size + 7) & ~(size_t)7;
		if (!slot->block)
			slot->block = by_any(random >> 20, size);
		else if ((random >> 28) % 4 == 0)
			slot->block = realloc(slot->block, size += 16);
		else {
			release(slot);
			continue;
		}
		slot->size = size;
		if (size > 0)
			slot->block[0] = slot->block[size - 1] = (unsigned char)size;
	}
	for (int i = 0; i < SLOTS; i++) {
		if (!slots[i].block)
			continue;
		if (i % 2) {
			release(&slots[i]);
		} else {
			atomic_fetch_add(&live_bytes, slots[i].size);
			atomic_fetch_add(&live_blocks, 1);
		}
	}
	return NULL;
}

/* A block that the wrap does not see may come to the address of a freed block. */
static void by_other_names(void)
{
	for (int i = 0; i < 10; i++) {
		free(malloc(100));
		if (tc_malloc || mi_malloc || mallocx)
			free(tc_malloc   ? tc_malloc(100)
			     : mi_malloc ? mi_malloc(100)
			                 : mallocx(100, 0));
	}
}

int main(void)
{
	pthread_t thread[THREADS];

	by_other_names();
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%s %s %zu %zu\n",
	       mallctl        ? "jemalloc"
	       : tc_version   ? "tcmalloc"
	       : mi_version   ? "mimalloc"
	       : &dense_calls ? "dense"
	                      : "libc",
	       leakwrap_heap_min_block_is_4_words() ? "apart" : "close", atomic_load(&live_bytes),
	       atomic_load(&live_blocks));
	return 0;
}
