/* interior_pointer.h - a pointer into a block, as the rules of interior_rules.h look at it. */
#ifndef LEAKWRAP_INTERIOR_POINTER_H
#define LEAKWRAP_INTERIOR_POINTER_H

#include "wrap/rules/memory.h"

/* How many words at the start of a block may decide. */
#define LEAKWRAP_HEAD_WORDS 9u

struct leakwrap_interior {
	const struct leakwrap_memory *memory;
	leakwrap_word block, size; /* the block's address and size */
	leakwrap_word pointer;
	leakwrap_word place;  /* the address where the pointer stands; 0: in a register */
	leakwrap_word offset; /* of POINTER from the start of the block: from 1 to SIZE - 1 */
};

/* Returns the word NUMBER of the block. */
LEAKWRAP_INLINE leakwrap_word leakwrap_word_of(const struct leakwrap_interior *in, unsigned number)
{
	return leakwrap_word_at(in->memory, in->block + number * in->memory->word);
}

/* Returns the word NUMBER of the part of the block to which the pointer leads. */
LEAKWRAP_INLINE leakwrap_word leakwrap_word_of_part(const struct leakwrap_interior *in,
                                                    unsigned number)
{
	return leakwrap_word_at(in->memory, in->pointer + number * in->memory->word);
}

/* Returns how many words the part has, at most MOST.  Returns 0 if they cannot be read, or if the
 * pointer is not aligned. */
LEAKWRAP_INLINE unsigned leakwrap_words_of_part(const struct leakwrap_interior *in, unsigned most)
{
	const leakwrap_word rest = (in->size - in->offset) / in->memory->word;
	const unsigned words = rest < most ? (unsigned)rest : most;

	return leakwrap_leads_to_words(in->memory, in->pointer, words) ? words : 0;
}

#endif
