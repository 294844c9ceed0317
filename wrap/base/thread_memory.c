/* thread_memory.c - see thread_memory.h. */
#include "wrap/base/common.h"
#include "wrap/base/thread_memory.h"

#include "wrap/port/port.h"

#include <stdalign.h>
#include <stdbool.h>

struct leakwrap_thread_memory_block {
	struct leakwrap_thread_memory_block *next;
	_Atomic int thread; /* owner; 0: none */
	_Atomic int process;
	alignas(union leakwrap_aligned) char bytes[];
};

static bool take_over(struct leakwrap_thread_memory_block *block, int process, int thread)
{
	int owner = atomic_load(&block->thread);
	/* This thread has no block, so a block with its thread id belongs to an earlier thread. */
	bool is_free =
	        owner == 0 || (atomic_load(&block->process) == process &&
	                       (owner == thread || leakwrap_thread_has_ended(process, owner)));

	return is_free && atomic_compare_exchange_strong(&block->thread, &owner, thread);
}

/* Takes over a block whose thread has ended, or returns NULL.  The search begins at the last block
 * found: the next free block is likely near it.  If it finds no ended thread, the next threads map
 * blocks without a search.  Their number is one for each eight blocks that were looked at.
 * Searching each time would take thousands of threads longer than all their other work. */
static struct leakwrap_thread_memory_block *find_ended(struct leakwrap_thread_memory *blocks,
                                                       int process, int thread)
{
	struct leakwrap_thread_memory_block *found = atomic_load(&blocks->found);
	/* FOUND is in the list that begins with NEWEST. */
	struct leakwrap_thread_memory_block *newest = atomic_load(&blocks->newest);
	struct leakwrap_thread_memory_block *first = found ? found : newest, *block = first;
	int looked_at = 0;

	if (atomic_load(&blocks->unsearched) > 0 && atomic_fetch_sub(&blocks->unsearched, 1) > 0)
		return NULL;
	while (block && !take_over(block, process, thread)) {
		looked_at++;
		block = block->next ? block->next : newest;
		if (block == first)
			block = NULL;
	}
	if (block)
		atomic_store(&blocks->found, block);
	else
		atomic_store(&blocks->unsearched, looked_at / 8);
	return block;
}

static struct leakwrap_thread_memory_block *map_block(struct leakwrap_thread_memory *blocks,
                                                      int thread)
{
	struct leakwrap_thread_memory_block *block =
	        leakwrap_pages_map(sizeof(*block) + blocks->size);

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
