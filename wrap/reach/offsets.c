/* offsets.c - see offsets.h. */
#include "wrap/reach/offsets.h"

#include "wrap/live/block_index.h"
#include "wrap/rules/offset_rules.h"
#include "wrap/reach/process_memory.h"

/* What the functions of struct leakwrap_offsets and struct leakwrap_memory call. */
struct asking {
	void (*take)(uintptr_t word, uintptr_t place);
	leakwrap_is_readable *is_readable;
};

static bool is_readable(const void *context, uintptr_t address, uintptr_t size)
{
	const struct asking *const asking = context;

	return asking->is_readable(address, size);
}

static uintptr_t size_at(void *context, uintptr_t address)
{
	struct leakwrap_indexed_block block;

	(void)context;
	return !leakwrap_is_outside_of_blocks(address, address + 1) &&
	                       leakwrap_block_index_find(address, &block) &&
	                       block.address == address
	               ? block.size
	               : 0;
}

static void take(void *context, uintptr_t address, uintptr_t place)
{
	const struct asking *const asking = context;

	asking->take(address, place);
}

static struct leakwrap_memory memory_of(const struct asking *asking)
{
	return (struct leakwrap_memory){.load = leakwrap_process_load,
	                                .is_readable = is_readable,
	                                .context = asking,
	                                .word = sizeof(uintptr_t)};
}

void leakwrap_offsets_take(uintptr_t address,
                           void (*take_function)(uintptr_t word, uintptr_t place),
                           leakwrap_is_readable *is_readable_function)
{
	struct asking asking = {take_function, is_readable_function};
	const struct leakwrap_memory memory = memory_of(&asking);

	leakwrap_take_offsets(
	        &(const struct leakwrap_offsets){&memory, address, &asking, size_at, take});
}

void leakwrap_offsets_take_elements(uintptr_t address, size_t size,
                                    void (*take_function)(uintptr_t word, uintptr_t place),
                                    leakwrap_is_readable *is_readable_function)
{
	struct asking asking = {take_function, is_readable_function};
	const struct leakwrap_memory memory = memory_of(&asking);

	leakwrap_take_elements(
	        &(const struct leakwrap_offsets){&memory, address, &asking, size_at, take}, size);
}
