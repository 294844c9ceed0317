/* interior.c - see interior.h. */
#include "tools/image/interior.h"

#include "tools/image/memory.h"
#include "wrap/rules/based_rules.h"
#include "wrap/rules/end_rules.h"
#include "wrap/rules/interior_rules.h"

/* Returns the memory that CONTEXT, a struct interior_search, tells. *PROCESS must outlive it. */
static struct leakwrap_memory memory_of(const void *context, struct image_process *process)
{
	const struct interior_search *search = context;

	*process = (struct image_process){
	        .image = search->image, .modules = search->modules, .index = search->index};
	return image_memory(process, search->is_glibc);
}

bool is_usual_interior(const void *context, const struct listed_block *block, uint64_t pointer,
                       uint64_t at)
{
	struct image_process process;
	const struct leakwrap_memory memory = memory_of(context, &process);
	const struct leakwrap_interior in = {&memory, block->address,          block->size, pointer,
	                                     at,      pointer - block->address};

	return is_usual(&in);
}

bool leads_back_to_block(const void *context, const struct listed_block *block, uint64_t pointer,
                         uint64_t at)
{
	struct image_process process;
	const struct leakwrap_memory memory = memory_of(context, &process);
	const struct leakwrap_interior in = {&memory, block->address,          block->size, pointer,
	                                     at,      pointer - block->address};

	return leads_back_by_parts(&in) || knows_pool_apart(&in) || is_aligned_structure(&in);
}

bool is_block_held_by_end(const void *context, const struct listed_block *block, uint64_t pointer,
                          uint64_t at)
{
	struct image_process process;
	const struct leakwrap_memory memory = memory_of(context, &process);

	(void)pointer;
	return memory.has_system &&
	       memory.is_readable(memory.context, block->address, block->size) &&
	       is_held_by_end(&memory, block->address, block->size / memory.word, at);
}

uint64_t find_array_of(const void *context, uint64_t address, uint64_t at, bool has_rows)
{
	struct image_process process;
	const struct leakwrap_memory memory = memory_of(context, &process);
	const uint64_t numbers = leakwrap_based_numbers(at, memory.word, has_rows);
	const uint64_t byte = leakwrap_based_byte(at, memory.word, has_rows);

	return memory.has_system && memory.load(memory.context, byte, 1) == 1 &&
	                       memory.is_readable(memory.context, numbers,
	                                          has_rows ? byte + 1 - numbers : at - numbers)
	               ? leakwrap_find_based(&memory, address, at, has_rows)
	               : 0;
}
