/* ralloc_rules.h - blocks of Mesa's ralloc, which are held by a pointer behind their header.
 *
 * The header has six words: the addresses of the parent's header, the first child's, the previous
 * sibling's and the next one's, and that of a destructor.  A word that aligns the rest follows.  In
 * builds with assertions a mark takes a word in front of the others (Mesa 22.3, src/util/ralloc.c,
 * struct ralloc_header).
 *
 * For interior_rules.h, and for who finds blocks of a header alone.
 */
#ifndef LEAKWRAP_RALLOC_RULES_H
#define LEAKWRAP_RALLOC_RULES_H

#include "wrap/rules/interior_pointer.h"

#define LEAKWRAP_RALLOC_HEADER_WORDS 6u

/* The mark of builds with assertions, in 32 bits. */
#define RALLOC_CANARY 0x5a1106u

/* The words of a header, without the mark. */
#define RALLOC_PARENT     0u
#define RALLOC_CHILD      1u
#define RALLOC_PREVIOUS   2u
#define RALLOC_NEXT       3u
#define RALLOC_DESTRUCTOR 4u

/* Returns whether LINK is the address of a header that has the address BLOCK in the word that is
 * OFFSET bytes behind its start. */
LEAKWRAP_INLINE bool is_ralloc_link(const struct leakwrap_memory *memory, leakwrap_word block,
                                    leakwrap_word link, leakwrap_word offset)
{
	return leakwrap_leads_to_words(memory, link, LEAKWRAP_RALLOC_HEADER_WORDS) &&
	       leakwrap_word_at(memory, link + offset) == block;
}

/* Returns whether a header is at BLOCK.  Its words are aligned and can be read.  Each header to
 * which they lead must lead back: only the first of a parent's children has its address.  A header
 * with neither parent nor child is not known: it has zeros alone, as many blocks have. */
LEAKWRAP_INLINE bool is_ralloc_header(const struct leakwrap_memory *memory, leakwrap_word block)
{
	const leakwrap_word word = memory->word;
	const bool has_mark = memory->load(memory->context, block, 4) == RALLOC_CANARY;
	const leakwrap_word at = has_mark ? word : 0;
	leakwrap_word head[RALLOC_DESTRUCTOR + 1];

	for (unsigned i = 0; i <= RALLOC_DESTRUCTOR; i++)
		head[i] = leakwrap_word_at(memory, block + at + i * word);
	if (head[RALLOC_DESTRUCTOR] != 0 &&
	    !memory->is_code(memory->context, head[RALLOC_DESTRUCTOR]))
		return false;
	if (head[RALLOC_CHILD] != 0 &&
	    !is_ralloc_link(memory, block, head[RALLOC_CHILD], at + RALLOC_PARENT * word))
		return false;
	if (head[RALLOC_PARENT] == 0)
		return head[RALLOC_CHILD] != 0 && head[RALLOC_PREVIOUS] == 0 &&
		       head[RALLOC_NEXT] == 0;
	if (head[RALLOC_NEXT] != 0 &&
	    !is_ralloc_link(memory, block, head[RALLOC_NEXT], at + RALLOC_PREVIOUS * word))
		return false;
	return head[RALLOC_PREVIOUS] == 0 ? is_ralloc_link(memory, block, head[RALLOC_PARENT],
	                                                   at + RALLOC_CHILD * word)
	                                  : is_ralloc_link(memory, block, head[RALLOC_PREVIOUS],
	                                                   at + RALLOC_NEXT * word);
}

LEAKWRAP_INLINE bool is_behind_ralloc_header(const struct leakwrap_interior *in)
{
	return in->offset == LEAKWRAP_RALLOC_HEADER_WORDS * in->memory->word &&
	       is_ralloc_header(in->memory, in->block);
}

#endif
