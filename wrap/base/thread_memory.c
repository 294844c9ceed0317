/* thread_memory.c - see thread_memory.h. */
#include "wrap/base/thread_memory.h"

#include "wrap/base/common.h"
#include "wrap/port/port.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

struct leakwrap_thread_memory_block {
	struct leakwrap_thread_memory_block *next;
	_Atomic int thread; /* the owner's id, or its negative (take_over); 0: none */
	_Atomic int process;
	alignas(union leakwrap_aligned) char bytes[];
};

static struct leakwrap_thread_memory_block *block_of(const void *bytes)
{
	const uintptr_t before = offsetof(struct leakwrap_thread_memory_block, bytes);

	return (struct leakwrap_thread_memory_block *)((uintptr_t)bytes - before);
}

/* Returns whether BLOCK has no owner (OWNER is 0), or its OWNER has ended. */
static bool is_left(const struct leakwrap_thread_memory_block *block, int owner, int process)
{
	return owner == 0 || (atomic_load(&block->process) == process &&
	                      leakwrap_thread_has_ended(process, owner > 0 ? owner : -owner));
}

/* Takes BLOCK over for this THREAD if it is left.  This thread has no block, so a block with its
 * thread id belongs to an earlier thread.  Another thread may be about to take that block over: the
 * sign tells the two owners apart. */
static bool take_over(struct leakwrap_thread_memory_block *block, int process, int thread)
{
	int owner = atomic_load(&block->thread);
	const bool is_earlier =
	        (owner == thread || owner == -thread) && atomic_load(&block->process) == process;

	return (is_earlier || is_left(block, owner, process)) &&
	       atomic_compare_exchange_strong(&block->thread, &owner, is_earlier ? -owner : thread);
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

/* Blocks of two threads share no cache line. */
#define CACHE_LINE 64

/* Returns how far apart blocks with SIZE bytes for their threads are. */
static size_t distance(size_t size)
{
	const size_t whole = sizeof(struct leakwrap_thread_memory_block) + size;

	return (whole + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

/* Maps blocks, as many as fit a page, and gives the first to this thread. */
static struct leakwrap_thread_memory_block *map_blocks(struct leakwrap_thread_memory *blocks,
                                                       int thread)
{
	const size_t each = distance(blocks->size), page = leakwrap_page_size();
	const size_t size = each < page ? page - page % each : each;
	struct leakwrap_thread_memory_block *const first = leakwrap_pages_map(size);
	struct leakwrap_thread_memory_block *last = first;

	if (!first)
		return NULL;
	atomic_store(&first->thread, thread);
	for (size_t at = each; at < size; at += each)
		last = last->next = (void *)((uintptr_t)first + at);
	last->next = atomic_load(&blocks->newest);
	while (!atomic_compare_exchange_weak(&blocks->newest, &last->next, first))
		;
	/* The next threads find the others. */
	if (last != first) {
		atomic_store(&blocks->found, first);
		atomic_store(&blocks->unsearched, 0);
	}
	return first;
}

void *leakwrap_thread_memory_take(struct leakwrap_thread_memory *blocks)
{
	int process = leakwrap_process_id();
	int thread = leakwrap_thread_id();
	struct leakwrap_thread_memory_block *block = find_ended(blocks, process, thread);

	if (!block)
		block = map_blocks(blocks, thread);
	if (!block)
		return NULL;
	atomic_store(&block->process, process);
	return block->bytes;
}

void *leakwrap_thread_memory_next(const struct leakwrap_thread_memory *blocks, const void *block)
{
	struct leakwrap_thread_memory_block *const next =
	        block ? block_of(block)->next : atomic_load(&blocks->newest);

	return next ? next->bytes : NULL;
}

bool leakwrap_thread_memory_is_left(const void *block)
{
	const struct leakwrap_thread_memory_block *const of = block_of(block);

	return is_left(of, atomic_load(&of->thread), leakwrap_process_id());
}

void leakwrap_thread_memory_reset_in_child(struct leakwrap_thread_memory *blocks, const void *own)
{
	struct leakwrap_thread_memory_block *block = atomic_load(&blocks->newest);

	for (; block; block = block->next) {
		atomic_store(&block->process, leakwrap_process_id());
		atomic_store(&block->thread, block->bytes == own ? leakwrap_thread_id() : 0);
	}
}
