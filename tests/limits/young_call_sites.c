/* young_call_sites.c BLOCKS - three threads allocate from ever new stacks, resize and free each
 * other's blocks, while the main thread looks up the call sites of live blocks: each has the
 * backtrace from which its block was allocated. A forked child sees its parent's blocks, too.
 * Prints how many blocks were looked up, how many of them had young call sites, and how many had a
 * wrong backtrace. */
#include "wrap/live/live.h"
#include "wrap/site/site_table.h"
#include "wrap/site/young_sites.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 24, ENTRIES = 1500, THREADS = 3 };

struct entry {
	pthread_mutex_t mutex;
	void *block;
	uint32_t path;
};

static struct entry entries[ENTRIES];
static atomic_bool is_over;
static unsigned long looked_up, young, wrong;

/* -- stacks ------------------------------------------------------------------------------------ */

/* Calls itself from one of two places, as the bits of PATH say. */
static __attribute__((noinline)) void *allocate(unsigned depth, uint32_t path, void *old,
                                                size_t size)
{
	void *block;

	if (depth == 0) {
		block = old ? realloc(old, size) : malloc(size);
	} else if (path & 1) {
		block = allocate(depth - 1, path >> 1, old, size);
		__asm__ volatile("# one");
	} else {
		block = allocate(depth - 1, path >> 1, old, size);
		__asm__ volatile("# two");
	}
	__asm__ volatile("" : "+r"(block));
	return block;
}

static uintptr_t returns[2]; /* behind the calls for each bit */

/* Reads the backtrace of BLOCK.  Returns its call site. */
static uint32_t read_backtrace(const void *block, uintptr_t *pcs, unsigned *depth)
{
	struct leakwrap_trace trace = {.pcs = pcs};
	const unsigned entered = leakwrap_sites_begin_reading();
	const uint32_t site = leakwrap_live_find(block).site;

	/* A dump is slow: meanwhile other threads allocate. */
	if (looked_up % 512 == 0)
		usleep(2000);
	if (site >= LEAKWRAP_SITE_FIRST)
		leakwrap_site_read(site, &trace);
	leakwrap_sites_end_reading(entered);
	*depth = trace.depth;
	return site;
}

static void learn_returns(void)
{
	for (uint32_t bit = 0; bit < 2; bit++) {
		uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
		unsigned depth;
		void *block = allocate(DEPTH, 0u - bit, NULL, 10);

		read_backtrace(block, pcs, &depth);
		if (depth <= DEPTH)
			exit(3);
		returns[bit] = pcs[1];
		free(block);
	}
}

/* Checks the backtrace of ENTRY, whose mutex is held. */
static void look_up(const struct entry *entry)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	unsigned depth;
	uint32_t site, path = 0;

	if (!entry->block)
		return;
	site = read_backtrace(entry->block, pcs, &depth);
	for (unsigned i = 0; depth > DEPTH && i < DEPTH; i++) {
		const uint32_t bit = pcs[i + 1] == returns[1];

		/* The innermost call is for the highest bit. */
		path |= bit << (DEPTH - 1 - i);
		if (pcs[i + 1] != returns[bit])
			depth = 0;
	}
	looked_up++;
	young += site >= LEAKWRAP_SITE_FIRST && leakwrap_site_is_young(site);
	if ((depth <= DEPTH || path != entry->path) && wrong++ < 3)
		fprintf(stderr, "site %u: %u frames, path %x, wanted %x\n", site, depth, path,
		        entry->path);
}

/* -- threads ----------------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 4;
}

static void change(struct entry *entry, uint32_t *state)
{
	static const uint16_t sizes[] = {10, 50, 200, 1000, 3000, 5000, 20000};

	if (entry->block && next_random(state) % 8 != 0) {
		free(entry->block);
		entry->block = NULL;
	}
	if (!entry->block && next_random(state) % 8 == 0)
		return;
	entry->path = next_random(state) % (1u << DEPTH);
	entry->block = allocate(DEPTH, entry->path, entry->block, sizes[next_random(state) % 7]);
}

static void *run(void *seed)
{
	uint32_t state = (uint32_t)(uintptr_t)seed;

	while (!atomic_load(&is_over)) {
		/* Most blocks are freed soon. */
		const uint32_t range = next_random(&state) % 4 == 0 ? ENTRIES : 40;
		struct entry *entry = &entries[next_random(&state) % range];

		if (pthread_mutex_trylock(&entry->mutex) != 0)
			continue;
		change(entry, &state);
		pthread_mutex_unlock(&entry->mutex);
	}
	return NULL;
}

static void look_up_all(void)
{
	for (unsigned i = 0; i < ENTRIES; i++) {
		pthread_mutex_lock(&entries[i].mutex);
		look_up(&entries[i]);
		pthread_mutex_unlock(&entries[i].mutex);
	}
}

/* In a child of one thread: the parent's blocks keep their backtraces while new ones come. */
static int run_child(void)
{
	uint32_t state = 77;
	unsigned long before = wrong;

	for (unsigned i = 0; i < 20000; i++)
		change(&entries[next_random(&state) % 40], &state);
	for (unsigned i = 0; i < ENTRIES; i++)
		look_up(&entries[i]);
	return wrong != before;
}

int main(int argc, char **argv)
{
	const unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	pthread_t threads[THREADS];
	int status = 0;

	learn_returns();
	for (unsigned i = 0; i < ENTRIES; i++)
		pthread_mutex_init(&entries[i].mutex, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(i + 1)) != 0)
			return 2;
	while (looked_up < wanted)
		look_up_all();
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	look_up_all();
	if (fork() == 0)
		_exit(run_child());
	wait(&status);
	printf("%lu looked up, %lu young, %lu wrong, child %d\n", looked_up, young, wrong, status);
	return wrong != 0 || status != 0 || young < wanted / 100;
}
