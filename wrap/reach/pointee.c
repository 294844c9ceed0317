/* pointee.c - see pointee.h. */
#include "wrap/reach/pointee.h"

/* Finds the block of SIZE bytes that ends at END, and whose bytes can be read.  Returns false if
 * there is none. */
static bool find_before(uintptr_t end, size_t size, struct leakwrap_indexed_block *found,
                        leakwrap_is_readable *is_readable)
{
	const uintptr_t address = end - size;
	const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(address);

	if (!in)
		return false;
	/* Only a block without a slot is searched for. */
	if (!(leakwrap_block_read(in, leakwrap_window_of(in, address).number, found) ||
	      (in->has_exact && leakwrap_block_index_find_in(in, address, found))))
		return false;
	return found->address == address && found->size == size && is_readable(address, size);
}

/* Finds the empty array or chunk whose end is END, an address that stands at PLACE.  Returns false
 * if there is none. */
static bool find_empty(uintptr_t end, uintptr_t place, struct leakwrap_indexed_block *found,
                       leakwrap_is_readable *is_readable)
{
	if (find_before(end, LEAKWRAP_COOKIE, found, is_readable) &&
	    leakwrap_is_empty_array(found->address, LEAKWRAP_COOKIE))
		return true;
	if (find_before(end, LEAKWRAP_PHP_RESULT, found, is_readable) &&
	    leakwrap_is_php_function_of_none(place, is_readable))
		return true;
	return (find_before(end, LEAKWRAP_EMPTY_CHUNK, found, is_readable) ||
	        find_before(end, LEAKWRAP_EMPTY_RALLOC, found, is_readable) ||
	        find_before(end, LEAKWRAP_EMPTY_TA, found, is_readable)) &&
	       leakwrap_is_empty_chunk(found->address, found->size, is_readable);
}

bool leakwrap_pointee_find(const struct leakwrap_indexed_region *in, uintptr_t word,
                           uintptr_t place, struct leakwrap_indexed_block *found,
                           leakwrap_is_readable *is_readable)
{
	return leakwrap_block_index_find_in(in, word, found) ||
	       find_empty(word, place, found, is_readable);
}
