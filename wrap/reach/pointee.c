/* pointee.c - see pointee.h. */
#include "wrap/reach/pointee.h"

/* Finds the empty array whose end is END.  Returns false if there is none. */
static bool find_empty_array(uintptr_t end, struct leakwrap_indexed_block *found,
                             leakwrap_is_readable *is_readable)
{
	const uintptr_t address = end - LEAKWRAP_COOKIE;
	const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(address);

	if (!in)
		return false;
	/* Only a block without a slot is searched for. */
	if (!(leakwrap_block_read(in, leakwrap_window_of(in, address).number, found) ||
	      (in->has_exact && leakwrap_block_index_find_in(in, address, found))))
		return false;
	return found->address == address && found->size == LEAKWRAP_COOKIE &&
	       is_readable(address, LEAKWRAP_COOKIE) &&
	       leakwrap_is_empty_array(address, LEAKWRAP_COOKIE);
}

bool leakwrap_pointee_find(const struct leakwrap_indexed_region *in, uintptr_t word,
                           struct leakwrap_indexed_block *found, leakwrap_is_readable *is_readable)
{
	return leakwrap_block_index_find_in(in, word, found) ||
	       find_empty_array(word, found, is_readable);
}
