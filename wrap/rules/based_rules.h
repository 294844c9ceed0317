/* based_rules.h - arrays that a program holds by the address of the element with the number 0.  If
 * the lowest number is another one, this address is not in the array: of the arrays of Open CASCADE
 * most begin with 1.
 *
 *   - in front of the address of a NCollection_Array1 are the lowest and the highest number, in 32
 *     bits each, and a byte, 1 if it has allocated its elements
 *   - in front of the address of a NCollection_Array2 are the lowest and the highest number of its
 *     rows and of its columns, in 32 bits each.  The address is that of a table of the rows.
 *     Behind it are the address of all elements, and such a byte
 *
 * (Open CASCADE 7.6, NCollection_Array1.hxx and NCollection_Array2.hxx).
 *
 * Such an address counts only if a block of the right size begins where the array does.
 */
#ifndef LEAKWRAP_BASED_RULES_H
#define LEAKWRAP_BASED_RULES_H

#include "wrap/rules/memory.h"

/* The largest element that is known. */
#define BASED_ELEMENT_MAX 512u

/* Returns by how many bytes, at most LIMIT, the address of element 0 may be in front of all blocks:
 * if an array begins with number 1, and nothing is in front of it. */
LEAKWRAP_INLINE leakwrap_word leakwrap_room_in_front(leakwrap_word limit)
{
	return limit < BASED_ELEMENT_MAX ? limit : BASED_ELEMENT_MAX;
}

/* Returns where the lowest number is, if the address stands at PLACE, and a word has WORD bytes. */
LEAKWRAP_INLINE leakwrap_word leakwrap_based_numbers(leakwrap_word place, leakwrap_word word,
                                                     bool has_rows)
{
	return has_rows ? place - 16 : place - word - 8;
}

/* Returns where the byte is. */
LEAKWRAP_INLINE leakwrap_word leakwrap_based_byte(leakwrap_word place, leakwrap_word word,
                                                  bool has_rows)
{
	return has_rows ? place + 2 * word : place - word;
}

/* Returns whether a block of SIZE bytes begins at ADDRESS. */
LEAKWRAP_INLINE bool begins_block(const struct leakwrap_memory *memory, leakwrap_word address,
                                  leakwrap_word size)
{
	leakwrap_word block_size;

	return memory->find_start(memory->context, address, &block_size) && block_size == size;
}

/* Returns the number in the 32 bits at ADDRESS, which has a sign. */
LEAKWRAP_INLINE leakwrap_word signed_at(const struct leakwrap_memory *memory, leakwrap_word address)
{
	return (leakwrap_word)(int32_t)memory->load(memory->context, address, 4);
}

/* Returns the address of the block that has the COUNT elements of an array, or 0.  The lowest
 * number of an element is LOWEST.  By new[] their number may be in front of them. */
LEAKWRAP_INLINE leakwrap_word find_elements(const struct leakwrap_memory *memory,
                                            leakwrap_word address, leakwrap_word lowest,
                                            leakwrap_word count)
{
	for (leakwrap_word size = 1; size <= BASED_ELEMENT_MAX; size += size < 4 ? size : 4) {
		const leakwrap_word elements = address + lowest * size;
		const leakwrap_word cookie = elements - memory->word;

		if (!leakwrap_is_multiple(elements, memory->word))
			continue;
		if (begins_block(memory, elements, count * size))
			return elements;
		if (begins_block(memory, cookie, count * size + memory->word) &&
		    leakwrap_leads_to_words(memory, cookie, 1) &&
		    leakwrap_word_at(memory, cookie) == count)
			return cookie;
	}
	return 0;
}

/* Returns whether numbers of columns are in front of PLACE, and the address of a block's byte is
 * behind it: the elements are there. */
LEAKWRAP_INLINE bool has_columns(const struct leakwrap_memory *memory, leakwrap_word place)
{
	const leakwrap_word elements = leakwrap_word_at(memory, place + memory->word);
	leakwrap_word block, size;

	return (int32_t)signed_at(memory, place - 8) <= (int32_t)signed_at(memory, place - 4) &&
	       memory->find_block(memory->context, elements, &block, &size);
}

/* Returns the address of the block that has the elements of an array, or the table of its rows if
 * it HAS_ROWS.  Element or row 0 would be at ADDRESS, which stands at PLACE.  Returns 0 if there is
 * no such block.  The memory from the numbers to the byte can be read, and the byte is 1: who scans
 * memory looks at the byte first. */
LEAKWRAP_INLINE leakwrap_word leakwrap_find_based(const struct leakwrap_memory *memory,
                                                  leakwrap_word address, leakwrap_word place,
                                                  bool has_rows)
{
	const leakwrap_word numbers = leakwrap_based_numbers(place, memory->word, has_rows);
	const leakwrap_word lowest = signed_at(memory, numbers);
	const leakwrap_word count = signed_at(memory, numbers + 4) - lowest + 1;
	leakwrap_word table;

	if (lowest == 0 || count == 0 || count > INT32_MAX)
		return 0;
	if (!has_rows)
		return find_elements(memory, address, lowest, count);
	table = address + lowest * memory->word;
	return has_columns(memory, place) && begins_block(memory, table, count * memory->word)
	               ? table
	               : 0;
}

#endif
