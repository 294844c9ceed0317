/* array.c - see array.h. */
#include "tools/image/array.h"

#include <elf.h>

uint64_t array_cookie(const struct image *image)
{
	return image->machine == EM_ARM ? 2 * image->word : image->word;
}

bool is_empty_array(const struct image *image, const struct listed_block *block)
{
	const uint64_t word = image->word;
	const unsigned char *bytes;

	if (block->size != array_cookie(image) || block->address % word != 0 ||
	    image_bytes(image, block->address, &bytes) < block->size)
		return false;
	const uint64_t first = image_load(bytes, word);
	return image->machine == EM_ARM ? first > 0 && image_load(bytes + word, word) == 0
	                                : first == 0;
}
