/* array_rules.h - how new[] keeps the number of an array's elements.
 *
 * For interior_rules.h, and for who finds empty arrays.
 */
#ifndef LEAKWRAP_ARRAY_RULES_H
#define LEAKWRAP_ARRAY_RULES_H

#include "wrap/reach/interior_pointer.h"

/* Returns the size of the cookie in front of the elements: a word with their number.  On ARM a word
 * with the size of each stands before that (C++ ABI for the Arm Architecture, array cookies). */
LEAKWRAP_INLINE leakwrap_word cookie_of(const struct leakwrap_memory *memory)
{
	return memory->cookie_words * memory->word;
}

/* Returns whether the block at BLOCK, which has the size of a cookie and can be read, is an array
 * without elements. */
LEAKWRAP_INLINE bool is_cookie_of_none(const struct leakwrap_memory *memory, leakwrap_word block)
{
	leakwrap_word first;

	if (!leakwrap_is_multiple(block, memory->word))
		return false;
	first = leakwrap_word_at(memory, block);
	return memory->cookie_words == 2
	               ? first > 0 && leakwrap_word_at(memory, block + memory->word) == 0
	               : first == 0;
}

/* The number of elements stands right in front of them.  Elements with a larger alignment than the
 * cookie have as many bytes in front of them.  The size of each is a multiple of its alignment, so
 * that few other words look like a number of elements there. */
LEAKWRAP_INLINE bool is_array(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, offset = in->offset, rest = in->size - offset;
	leakwrap_word elements;

	if (offset < cookie_of(memory) || (offset & (offset - 1)) != 0 ||
	    !leakwrap_is_multiple(in->pointer, offset))
		return false;
	elements = leakwrap_word_at(memory, in->pointer - word);
	if (elements == 0 || rest % elements != 0)
		return false;
	if (memory->cookie_words == 2)
		return leakwrap_word_at(memory, in->pointer - 2 * word) == rest / elements;
	return offset == word || leakwrap_is_multiple(rest / elements, offset);
}

#endif
