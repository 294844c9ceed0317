/* pointee.c - see pointee.h. */
#include "wrap/reach/pointee.h"

#include "wrap/rules/end_rules.h"

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

/* Finds the block that a program holds by its end END, an address that stands at PLACE.  Returns
 * false if there is none. */
static bool find_held_by_end(uintptr_t end, uintptr_t place, struct leakwrap_indexed_block *found,
                             leakwrap_is_readable *is_readable)
{
	static const uint8_t words[] = LEAKWRAP_END_WORDS;

	if (end % sizeof(end) != 0)
		return false;
	if (find_before(end, LEAKWRAP_COOKIE, found, is_readable) &&
	    (leakwrap_is_empty_array(found->address, LEAKWRAP_COOKIE) ||
	     leakwrap_is_held_by_end(found->address, LEAKWRAP_COOKIE, place, is_readable)))
		return true;
	for (unsigned i = 0; i < sizeof(words); i++)
		if (find_before(end, words[i] * sizeof(end), found, is_readable) &&
		    leakwrap_is_held_by_end(found->address, found->size, place, is_readable))
			return true;
	return false;
}

bool leakwrap_pointee_find(const struct leakwrap_indexed_region *in, uintptr_t word,
                           uintptr_t place, struct leakwrap_indexed_block *found,
                           leakwrap_is_readable *is_readable)
{
	return leakwrap_block_index_find_in(in, word, found) ||
	       find_held_by_end(word, place, found, is_readable);
}
