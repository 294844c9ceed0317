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

bool is_array(const struct image *image, const struct listed_block *block, uint64_t pointer)
{
	const uint64_t word = image->word, offset = pointer - block->address;
	const uint64_t rest = block->size - offset;

	if (offset < array_cookie(image) || (offset & (offset - 1)) != 0 || pointer % offset != 0)
		return false;
	const uint64_t elements = image_word(image, pointer - word);
	if (elements == 0 || rest % elements != 0)
		return false;
	if (image->machine == EM_ARM)
		return image_word(image, pointer - 2 * word) == rest / elements;
	return offset == word || rest / elements % offset == 0;
}
