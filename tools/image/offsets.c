/* offsets.c - see offsets.h. */
#include "tools/image/offsets.h"

#include "tools/image/memory.h"
#include "wrap/rules/offset_rules.h"

/* What the functions of struct leakwrap_offsets call. */
struct asking {
	const struct block_index *index;
	take_offset *take;
	void *context;
};

static uint64_t size_at(void *context, uint64_t address)
{
	const struct asking *asking = context;
	const size_t number = block_index_find(asking->index, address);

	return number != NO_BLOCK && asking->index->blocks[number].address == address
	               ? asking->index->blocks[number].size
	               : 0;
}

static void take_at(void *context, uint64_t address, uint64_t place)
{
	const struct asking *asking = context;

	asking->take(asking->context, address, place);
}

void take_offsets(const struct image *image, const struct block_index *index,
                  const struct listed_block *block, take_offset *take, void *context)
{
	const struct image_process process = {.image = image};
	const struct leakwrap_memory memory = image_memory(&process, false);
	struct asking asking = {index, take, context};

	const struct leakwrap_offsets offsets = {&memory, block->address, &asking, size_at,
	                                         take_at};

	if (!image->is_core || !leakwrap_is_multiple(block->address, memory.word))
		return;
	if (leakwrap_is_of_region(&memory, block->address, block->size))
		leakwrap_take_elements(&offsets, block->size);
	else if (block->size == leakwrap_offsets_size(&memory))
		leakwrap_take_offsets(&offsets);
}
