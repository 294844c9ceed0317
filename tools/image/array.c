/* array.c - see array.h. */
#include "tools/image/array.h"

#include "tools/image/memory.h"
#include "wrap/reach/array_rules.h"
#include "wrap/reach/php_rules.h"
#include "wrap/reach/ralloc_rules.h"
#include "wrap/reach/ta_rules.h"
#include "wrap/reach/talloc_rules.h"

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

uint64_t empty_chunk_size(const struct image *image)
{
	return LEAKWRAP_TALLOC_HEADER_WORDS * image->word;
}

uint64_t empty_ralloc_size(const struct image *image)
{
	return LEAKWRAP_RALLOC_HEADER_WORDS * image->word;
}

uint64_t empty_ta_size(const struct image *image)
{
	return LEAKWRAP_TA_HEADER_WORDS * image->word;
}

bool is_empty_chunk(const struct image *image, const struct listed_block *block)
{
	const struct image_process process = {.image = image};
	const struct leakwrap_memory memory = image_memory(&process, false);

	if (!image->is_core || !leakwrap_is_multiple(block->address, memory.word) ||
	    !memory.is_readable(memory.context, block->address, block->size))
		return false;
	if (block->size == empty_ta_size(image))
		return is_ta_header(&memory, block->address, LEAKWRAP_TA_HEADER_WORDS, 0);
	return block->size == empty_chunk_size(image)
	               ? is_talloc_chunk_of_none(&memory, block->address)
	               : block->size == empty_ralloc_size(image) &&
	                         is_ralloc_header(&memory, block->address);
}

uint64_t php_result_size(const struct image *image)
{
	return LEAKWRAP_PHP_ARGUMENT_WORDS * image->word;
}

bool is_function_of_none(const struct image *image, uint64_t at)
{
	const struct image_process process = {.image = image};
	const struct leakwrap_memory memory = image_memory(&process, false);

	return image->is_core && is_php_function_of_none(&memory, at);
}
