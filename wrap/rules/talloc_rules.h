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

#include "wrap/rules/interior_pointer.h"

#define LEAKWRAP_TALLOC_HEADER_WORDS 12u

LEAKWRAP_INLINE bool is_behind_talloc_header(const struct leakwrap_interior *in)
{
	const leakwrap_word header = LEAKWRAP_TALLOC_HEADER_WORDS * in->memory->word;

	return in->offset == header && leakwrap_word_of(in, 8) == in->size - header;
}

/* The words of a header that are addresses of other chunks. */
#define LEAKWRAP_TALLOC_NEXT     1u
#define LEAKWRAP_TALLOC_PREVIOUS 2u
#define LEAKWRAP_TALLOC_PARENT   3u
#define LEAKWRAP_TALLOC_CHILD    4u

/* Returns whether the word NUMBER of the header at BLOCK is 0, or the address of a chunk of which
 * the word BACK leads to BLOCK. */
LEAKWRAP_INLINE bool is_talloc_link(const struct leakwrap_memory *memory, leakwrap_word block,
                                    unsigned number, unsigned back)
{
	const leakwrap_word other = leakwrap_word_at(memory, block + number * memory->word);

	return other == 0 ||
	       (leakwrap_leads_to_words(memory, other, LEAKWRAP_TALLOC_HEADER_WORDS) &&
	        leakwrap_word_at(memory, other + back * memory->word) == block);
}

/* Returns whether the block of a header's size at BLOCK is a chunk without bytes, as talloc_new()
 * makes it.  A program holds it by a pointer to its end.  Many blocks have as many bytes, and
 * arrays of addresses look much like a header.  So each chunk to which the header leads must lead
 * back: only the first of a parent's children has its address.  With 64 bits the flags and what
 * aligns the next word are no address. */
LEAKWRAP_INLINE bool is_talloc_chunk_of_none(const struct leakwrap_memory *memory,
                                             leakwrap_word block)
{
	const leakwrap_word word = memory->word;
	const leakwrap_word name = leakwrap_word_at(memory, block + 7 * word);

	return leakwrap_is_multiple(block, 2 * word) &&
	       leakwrap_word_at(memory, block + 8 * word) == 0 &&
	       memory->load(memory->context, block, 4) != 0 && name != 0 &&
	       memory->is_readable(memory->context, name, 1) &&
	       (word < 8 || !leakwrap_leads_to_words(memory, leakwrap_word_at(memory, block), 1)) &&
	       leakwrap_is_multiple(leakwrap_word_at(memory, block + 5 * word), word) &&
	       is_talloc_link(memory, block, LEAKWRAP_TALLOC_NEXT, LEAKWRAP_TALLOC_PREVIOUS) &&
	       is_talloc_link(memory, block, LEAKWRAP_TALLOC_PREVIOUS, LEAKWRAP_TALLOC_NEXT) &&
	       is_talloc_link(memory, block, LEAKWRAP_TALLOC_PARENT, LEAKWRAP_TALLOC_CHILD) &&
	       is_talloc_link(memory, block, LEAKWRAP_TALLOC_CHILD, LEAKWRAP_TALLOC_PARENT);
}

#endif
