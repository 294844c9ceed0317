/* talloc_rules.h - blocks of libtalloc, which are held by a pointer behind their header.
 *
 * The header has 11 words, and is aligned to 16 bytes: 32 bits of flags, which are never 0, the
 * addresses of the next chunk, the previous one, the parent, the child and the references, that of
 * the destructor, that of the name, and the size of the rest (libtalloc, talloc.c, struct
 * talloc_chunk).
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_TALLOC_RULES_H
#define LEAKWRAP_TALLOC_RULES_H

#include "wrap/reach/interior_pointer.h"

#define LEAKWRAP_TALLOC_HEADER_WORDS 12u

LEAKWRAP_INLINE bool is_behind_talloc_header(const struct leakwrap_interior *in)
{
	const leakwrap_word header = LEAKWRAP_TALLOC_HEADER_WORDS * in->memory->word;

	return in->offset == header && in->size > header &&
	       leakwrap_word_of(in, 8) == in->size - header;
}

/* Returns whether the block of a header's size at BLOCK is a chunk without bytes, as talloc_new()
 * makes it.  A program holds it by a pointer to its end.  Of the words that are addresses of chunks
 * all are looked at, because many blocks have as many bytes. */
LEAKWRAP_INLINE bool is_talloc_chunk_of_none(const struct leakwrap_memory *memory,
                                             leakwrap_word block)
{
	const leakwrap_word word = memory->word;
	const leakwrap_word name = leakwrap_word_at(memory, block + 7 * word);

	for (unsigned i = 1; i <= 5; i++)
		if (!leakwrap_is_multiple(leakwrap_word_at(memory, block + i * word), word))
			return false;
	return leakwrap_word_at(memory, block + 8 * word) == 0 &&
	       memory->load(memory->context, block, 4) != 0 && name != 0 &&
	       memory->is_readable(memory->context, name, 1);
}

#endif
