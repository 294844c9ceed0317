/* memory.c - see memory.h. */
#include "tools/image/memory.h"

#include <elf.h>

static uint64_t load(const void *context, uint64_t address, unsigned size)
{
	const struct image_process *process = context;
	const struct image_part *part = process->part;
	const unsigned char *bytes = NULL;

	if (part && address >= part->start && part->length >= size &&
	    address - part->start <= part->length - size)
		return image_load(part->bytes + (address - part->start), size);
	return image_bytes(process->image, address, &bytes) >= size ? image_load(bytes, size) : 0;
}

static bool is_readable(const void *context, uint64_t address, uint64_t size)
{
	const struct image_process *process = context;
	const unsigned char *bytes;

	while (size > 0) {
		const uint64_t there = image_bytes(process->image, address, &bytes);
		if (there >= size)
			return true;
		if (there == 0)
			return false;
		address += there;
		size -= there;
	}
	return true;
}

static bool is_code(const void *context, uint64_t address)
{
	const struct image_process *process = context;
	const struct image_module *module =
	        process->modules ? image_module_at(process->modules, address) : NULL;

	if (process->modules && !module)
		return false;
	return process->image->is_core || !module
	               ? image_is_code(process->image, address)
	               : address >= module->mapping->start && address < module->mapping->end;
}

static bool is_constant(const void *context, uint64_t address)
{
	const struct image_process *process = context;

	return process->modules && image_module_at(process->modules, address) &&
	       !is_code(context, address);
}

static bool find_block(const void *context, uint64_t address, uint64_t *block, uint64_t *size)
{
	const struct image_process *process = context;
	const size_t number = process->index ? block_index_find(process->index, address) : NO_BLOCK;

	if (number == NO_BLOCK)
		return false;
	*block = process->index->blocks[number].address;
	*size = process->index->blocks[number].size;
	return true;
}

static bool find_start(const void *context, uint64_t address, uint64_t *size)
{
	uint64_t block;

	return find_block(context, address, &block, size) && block == address;
}

struct leakwrap_memory image_memory(const struct image_process *process, bool is_glibc)
{
	return (struct leakwrap_memory){
	        .load = load,
	        .is_readable = is_readable,
	        .is_code = is_code,
	        .is_constant = is_constant,
	        .find_block = find_block,
	        .find_start = find_start,
	        .context = process,
	        .word = process->image->word,
	        .cookie_words = process->image->machine == EM_ARM ? 2 : 1,
	        .has_sse2 = process->image->machine == EM_X86_64,
	        .is_glibc = is_glibc,
	        .has_system = process->image->is_core,
	};
}
