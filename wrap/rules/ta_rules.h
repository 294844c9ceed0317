/* ta_rules.h - blocks of mpv's allocator, which are held by a pointer behind their header.
 *
 * Builds with checks, as Debian's are, have a mark in the header.  It has ten words: the size of
 * the rest, the addresses of the previous sibling's header, the next one's, the first child's and
 * the parent's, that of a destructor, the mark in 32 bits, two links for checks and the address of
 * a name.  Up to mpv 0.29 it has eight: one address takes the place of those of a child, a parent
 * and a destructor (mpv 0.35, ta/ta.c, struct ta_header).  Without the mark it is the header of
 * is_behind_size.
 *
 * For interior_rules.h, and for who finds blocks of a header alone.
 */
#ifndef LEAKWRAP_TA_RULES_H
#define LEAKWRAP_TA_RULES_H

#include "wrap/rules/interior_pointer.h"

#define LEAKWRAP_TA_HEADER_WORDS 10u
#define TA_OLD_HEADER_WORDS      8u

/* The mark, and how many words before the header's end it stands. */
#define TA_CANARY      0xd3adb3efu
#define TA_CANARY_BACK 4u

/* Returns whether a header of WORDS words is at BLOCK, whose rest has REST bytes.  Its words can be
 * read. */
LEAKWRAP_INLINE bool is_ta_header(const struct leakwrap_memory *memory, leakwrap_word block,
                                  unsigned words, leakwrap_word rest)
{
	const leakwrap_word mark = block + (words - TA_CANARY_BACK) * memory->word;

	return leakwrap_word_at(memory, block) == rest &&
	       memory->load(memory->context, mark, 4) == TA_CANARY;
}

LEAKWRAP_INLINE bool is_behind_ta_header(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word, rest = in->size - in->offset;

	return (in->offset == LEAKWRAP_TA_HEADER_WORDS * word ||
	        in->offset == TA_OLD_HEADER_WORDS * word) &&
	       is_ta_header(in->memory, in->block, (unsigned)(in->offset / word), rest);
}

#endif
