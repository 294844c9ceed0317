/* array_rules.h - how programs keep the number of an array's elements.  These keep it in front of
 * the elements:
 *
 *   - new[] of C++
 *   - stb_ds.h, in an array or a hash table
 *   - Snowball's stemmers, in a word that they change
 *   - LMDB, in a list of IDs
 *   - libyang, in front of addresses
 *
 * Emacs and SBCL keep it beside the pointer to the second element.
 *
 * For interior_rules.h, and for who finds empty arrays.
 */
#ifndef LEAKWRAP_ARRAY_RULES_H
#define LEAKWRAP_ARRAY_RULES_H

#include "wrap/rules/interior_pointer.h"

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

/* The words in front of an array of stb_ds.h: the number of elements, the room for them, which is
 * for four at least, the address of a hash table, and a number for macros (0.67,
 * struct stbds_array_header and stbds_arrgrowf).  Of a hash table the program has the address of
 * the second element, behind the default value. */
#define STB_WORDS    4u
#define STB_ROOM_MIN 4u

LEAKWRAP_INLINE bool is_stb_array(const struct leakwrap_interior *in)
{
	const leakwrap_word head = STB_WORDS * in->memory->word;
	leakwrap_word room, table, second;

	if (in->offset < head || in->size <= head)
		return false;
	room = leakwrap_word_of(in, 1);
	table = leakwrap_word_of(in, 2);
	if (room < STB_ROOM_MIN || leakwrap_word_of(in, 0) > room || (in->size - head) % room != 0)
		return false;
	second = head + (in->size - head) / room;
	return table == 0 ? in->offset == head
	                  : (in->offset == head || in->offset == second) &&
	                            leakwrap_leads_to_words(in->memory, table, 1);
}

/* In front of the letters of a word are the room for them and their number, in 32 bits each.  There
 * is room for one letter more (Snowball 2.2, runtime/header.h and runtime/utilities.c,
 * create_s). */
#define STEM_BYTES 8u

LEAKWRAP_INLINE bool is_stem(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	uint64_t room;

	if (in->offset != STEM_BYTES || in->size <= STEM_BYTES)
		return false;
	room = memory->load(memory->context, in->block, 4);
	return room == in->size - STEM_BYTES - 1 &&
	       memory->load(memory->context, in->block + 4, 4) <= room;
}

/* In front of a list of IDs, which begins with their number, is the room for them, each in a word
 * (LMDB 0.9, midl.c, mdb_midl_alloc).  Lists with less room than ROOM_OF_IDS_MIN are not known:
 * small numbers begin many blocks. */
#define ROOM_OF_IDS_MIN 16u

LEAKWRAP_INLINE bool is_list_of_ids(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word, room = in->size / word - 2;

	return in->offset == word && leakwrap_is_multiple(in->size, word) &&
	       in->size >= (ROOM_OF_IDS_MIN + 2) * word && leakwrap_word_of(in, 0) == room &&
	       leakwrap_word_of(in, 1) <= room;
}

/* In front of an array of addresses is their number, in 64 bits.  Behind them may be room for more,
 * which holds zeros (libyang 2.1, src/tree_edit.h, LY_ARRAY_NEW and LY_ARRAY_CREATE).  An array
 * without such room is like that of new[]. */
#define ADDRESSES_AT   8u
#define ADDRESSES_READ 8u
#define ADDRESSES_MAX  0xffffffu

LEAKWRAP_INLINE bool is_array_of_addresses(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, room = (in->size - in->offset) / word;
	unsigned count, used, unused;
	uint64_t number;

	if (in->offset != ADDRESSES_AT || !leakwrap_is_multiple(in->size, word))
		return false;
	number = memory->load(memory->context, in->block, 8);
	if (number == 0 || number >= room || number > ADDRESSES_MAX)
		return false;
	count = (unsigned)number;
	used = count < ADDRESSES_READ ? count : ADDRESSES_READ;
	unused = room - count < ADDRESSES_READ ? (unsigned)(room - count) : ADDRESSES_READ;
	if (!leakwrap_leads_to_words(memory, in->pointer, used) ||
	    !leakwrap_leads_to_words(memory, in->pointer + count * word, unused))
		return false;
	for (unsigned i = 0; i < used; i++)
		if (!leakwrap_leads_to_words(memory, leakwrap_word_of_part(in, i), 1))
			return false;
	for (unsigned i = 0; i < unused; i++)
		if (leakwrap_word_of_part(in, count + i) != 0)
			return false;
	return true;
}

/* The least number of elements of an array whose first element the program leaves out: smaller
 * numbers stand beside many pointers. */
#define ELEMENTS_USED_MIN 32u

/* Returns whether the word at ADDRESS is the number of elements that a program uses, of REST
 * elements behind the first.  The program may leave the last one out, too. */
LEAKWRAP_INLINE bool is_number_used(const struct leakwrap_memory *memory, leakwrap_word address,
                                    leakwrap_word rest)
{
	leakwrap_word number;

	if (!leakwrap_leads_to_words(memory, address, 1))
		return false;
	number = leakwrap_word_at(memory, address);
	return number >= ELEMENTS_USED_MIN && (number == rest || number == rest - 1);
}

/* Returns whether the pointer leads to the second element of an array, and the number of elements
 * stands in front of the pointer (Emacs 28, src/eval.c, grow_specpdl) or behind it (SBCL 2.2,
 * src/runtime/gencgc.c, page_table and page_table_pages).  The program neither uses nor counts the
 * first element. */
LEAKWRAP_INLINE bool is_second_element(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, offset = in->offset;

	if (!leakwrap_is_multiple(offset, word) || in->place < word || in->size % offset != 0)
		return false;
	return is_number_used(memory, in->place - word, in->size / offset - 1) ||
	       is_number_used(memory, in->place + word, in->size / offset - 1);
}

#endif
