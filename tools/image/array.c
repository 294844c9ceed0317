/* array.c - see array.h. */
#include "tools/image/array.h"

#include "tools/image/memory.h"
#include "wrap/rules/array_rules.h"

uint64_t array_cookie(const struct image *image)
{
	const struct leakwrap_memory memory =
	        image_memory(&(const struct image_process){.image = image}, false);

	return cookie_of(&memory);
}

bool is_empty_array(const struct image *image, const struct listed_block *block)
{
	const struct image_process process = {.image = image};
	const struct leakwrap_memory memory = image_memory(&process, false);

	return block->size == cookie_of(&memory) &&
	       memory.is_readable(memory.context, block->address, block->size) &&
	       is_cookie_of_none(&memory, block->address);
}
