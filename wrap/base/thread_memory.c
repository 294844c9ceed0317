/* thread_memory.c - see thread_memory.h. */
#include "wrap/base/common.h"
#include "wrap/base/thread_memory.h"

#include "wrap/port/port.h"

#include <stdalign.h>
#include <stdbool.h>

struct leakwrap_thread_memory_block {
	struct leakwrap_thread_memory_block *next;
	_Atomic int thread; /* whose it is; 0: nobody's */
	_Atomic int process;
	alignas(union leakwrap_aligned) char bytes[];
};

static bool take_over(struct leakwrap_thread_memory_block *block, int process, int thread)
{
	int owner = atomic_load(&block->thread);
	/* This thread has no block: one with its number is that of an earlier thread. */
	bool is_free = owner == 0 || (atomic_load(&block->process) == process &&
	                              (owner == thread || leakwrap_thread_has_ended(process, owner)));

	return is_free && atomic_compare_exchange_strong(&block->thread, &owner, thread);
}

/* A block of a thread that has ended, or NULL.  Where one was found the next one is likely.  When all threads live, one block in
 * eight is mapped without another search, which would take thousands of threads longer than all else that they do. */
static struct leakwrap_thread_memory_block *find_ended(struct leakwrap_thread_memory *blocks,
                                                       int process, int thread)
{
	struct leakwrap_thread_memory_block *found = atomic_load(&blocks->found);
	struct leakwrap_thread_memory_block *newest = atomic_load(&blocks->newest); /* leads to FOUND */
	struct leakwrap_thread_memory_block *first = found ? found : newest, *block = first;
	int looks = 0;

	if (atomic_load(&blocks->unsearched) > 0 && atomic_fetch_sub(&blocks->unsearched, 1) > 0)
		return NULL;
	while (block && !take_over(block, process, thread)) {
		looks++;
		block = block->next ? block->next : newest;
		if (block == first)
			block = NULL;
	}
	if (block)
		atomic_store(&blocks->found, block);
	else
		atomic_store(&blocks->unsearched, looks / 8);
	return block;
}

static struct leakwrap_thread_memory_block *map_block(struct leakwrap_thread_memory *blocks, int thread)
{
	struct leakwrap_thread_memory_block *block = leakwrap_pages_map(sizeof(*block) + blocks->size);

	if (!block)
		return NULL;
	atomic_store(&block->thread, thread);
	block->next = atomic_load(&blocks->newest);
	while (!atomic_compare_exchange_weak(&blocks->newest, &block->next, block))
		;
	return block;
}

void *leakwrap_thread_memory_take(struct leakwrap_thread_memory *blocks)
{
	int process = leakwrap_process_id();
	int thread = leakwrap_thread_id();
	struct leakwrap_thread_memory_block *block = find_ended(blocks, process, thread);

	if (!block)
		block = map_block(blocks, thread);
	if (!block)
		return NULL;
	atomic_store(&block->process, process);
	return block->bytes;
}

void leakwrap_thread_memory_reset_after_fork(struct leakwrap_thread_memory *blocks, const void *own)
{
	struct leakwrap_thread_memory_block *block = atomic_load(&blocks->newest);

	for (; block; block = block->next) {
		atomic_store(&block->process, leakwrap_process_id());
		atomic_store(&block->thread, block->bytes == own ? leakwrap_thread_id() : 0);
	}
}
