/* blocks.c - see blocks.h. */
#include "common.h"
#include "blocks.h"

#include "port.h"

#include <stdalign.h>
#include <stdbool.h>

struct leakwrap_block {
	struct leakwrap_block *next;
	_Atomic int thread; /* whose it is; 0: nobody's */
	_Atomic int process;
	alignas(union leakwrap_aligned) char bytes[];
};

/* A block of a thread that has ended. */
static struct leakwrap_block *take_over(struct leakwrap_blocks *blocks, int process, int thread)
{
	struct leakwrap_block *block = atomic_load_explicit(&blocks->newest, memory_order_acquire);

	for (; block; block = block->next) {
		int owner = atomic_load(&block->thread);
		/* This thread has no block: one with its number is that of an earlier thread. */
		bool is_free =
		        owner == 0 || (atomic_load(&block->process) == process &&
		                       (owner == thread || leakwrap_thread_has_ended(process, owner)));

		if (is_free && atomic_compare_exchange_strong(&block->thread, &owner, thread))
			break;
	}
	return block;
}

static struct leakwrap_block *map_block(struct leakwrap_blocks *blocks, int thread)
{
	struct leakwrap_block *block = leakwrap_pages_map(sizeof(*block) + blocks->size);

	if (!block)
		return NULL;
	atomic_store(&block->thread, thread);
	block->next = atomic_load(&blocks->newest);
	while (!atomic_compare_exchange_weak(&blocks->newest, &block->next, block))
		;
	return block;
}

void *leakwrap_block_take(struct leakwrap_blocks *blocks)
{
	int process = leakwrap_process_id();
	int thread = leakwrap_thread_id();
	struct leakwrap_block *block = take_over(blocks, process, thread);

	if (!block)
		block = map_block(blocks, thread);
	if (!block)
		return NULL;
	atomic_store(&block->process, process);
	return block->bytes;
}

void leakwrap_blocks_forked(struct leakwrap_blocks *blocks, const void *own)
{
	struct leakwrap_block *block = atomic_load(&blocks->newest);

	for (; block; block = block->next) {
		atomic_store(&block->process, leakwrap_process_id());
		atomic_store(&block->thread, block->bytes == own ? leakwrap_thread_id() : 0);
	}
}
