/* offset_rules.h - blocks that hold others by the distance between them, as those of fontconfig and
 * Berkeley DB do: their files and shared memory are mapped at any address.
 *
 * fontconfig:
 *
 *   - a pattern has two numbers of 32 bits, how many elements it has and for how many there is
 *     room, then the distance to its elements, and the number of its owners in 32 bits
 *   - a set of characters has two numbers of 32 bits, those of its owners and of its leaves, then
 *     the distances to an array of words and to one of numbers of 16 bits.  In the words are the
 *     distances from the former array to the leaves
 *
 * (2.14, src/fcint.h, struct _FcPattern, _FcPatternElt, _FcCharSet and _FcCharLeaf).
 *
 * Berkeley DB, where it keeps an environment in the heap:
 *
 *   - a block of a region begins with its size, in 64 bits.  An element is what is behind it.  The
 *     head of a list of elements has the distance from itself to the first one, and an element has
 *     the distance from itself to the next one
 *
 * (5.3, src/env/env_alloc.c, and src/dbinc/shqueue.h).
 *
 * A distance counts only if a block of the right size begins there, or one of a region.
 */
#ifndef LEAKWRAP_OFFSET_RULES_H
#define LEAKWRAP_OFFSET_RULES_H

#include "wrap/rules/memory.h"

/* A block that may hold others, and who asks. */
struct leakwrap_offsets {
	const struct leakwrap_memory *memory;
	leakwrap_word block;
	void *context; /* of the functions */

	/* Returns the size of the block that begins at ADDRESS, or 0. */
	leakwrap_word (*size_at)(void *context, leakwrap_word address);

	/* Gets the address of a block, and the place where the distance to it stands. */
	void (*take)(void *context, leakwrap_word address, leakwrap_word place);
};

/* The most elements and leaves: a leaf is for 256 characters, of 17 * 65,536. */
#define OFFSETS_MAX 4352u

/* The bytes of a leaf: a bit for each of 256 characters. */
#define LEAF_BYTES 32u

/* Returns whether SECOND may be the second number of a pattern or a set of characters. */
LEAKWRAP_INLINE bool leakwrap_is_offsets_count(uint64_t second)
{
	return second > 0 && second <= OFFSETS_MAX;
}

/* Returns the size of a pattern and of a set of characters. */
LEAKWRAP_INLINE leakwrap_word leakwrap_offsets_size(const struct leakwrap_memory *memory)
{
	return 8 + 2 * memory->word;
}

/* Returns the address at the distance that stands at PLACE from START.  The distance to a lower
 * address is negative, and may have fewer bits than leakwrap_word. */
LEAKWRAP_INLINE leakwrap_word at_distance(const struct leakwrap_offsets *of, leakwrap_word start,
                                          leakwrap_word place)
{
	const leakwrap_word address = start + leakwrap_word_at(of->memory, place);

	return of->memory->word == 4 ? address & UINT32_MAX : address;
}

/* Returns whether the block is a pattern with USED elements, and room for ROOM, at the address
 * ELEMENTS.  An element has the number of a property in 32 bits, and the address of its values.  A
 * pattern without elements is not known: few numbers would tell it. */
LEAKWRAP_INLINE bool is_pattern(const struct leakwrap_offsets *of, uint64_t used, uint64_t room,
                                leakwrap_word elements)
{
	const struct leakwrap_memory *const memory = of->memory;
	const leakwrap_word values = elements + memory->word;
	const uint64_t owners = memory->load(memory->context, of->block + 8 + memory->word, 4);

	return used > 0 && used <= room && owners > 0 && owners <= INT32_MAX &&
	       of->size_at(of->context, elements) == room * 2 * memory->word &&
	       leakwrap_leads_to_words(memory, elements, 2) &&
	       memory->load(memory->context, elements, 4) - 1 < INT32_MAX &&
	       leakwrap_leads_to_words(memory, leakwrap_word_at(memory, values), 1);
}

/* Returns the address of the leaf to which the word NUMBER of LEAVES leads, or 0. */
LEAKWRAP_INLINE leakwrap_word leaf_at(const struct leakwrap_offsets *of, leakwrap_word leaves,
                                      leakwrap_word number)
{
	const leakwrap_word leaf = at_distance(of, leaves, leaves + number * of->memory->word);

	return of->size_at(of->context, leaf) == LEAF_BYTES ? leaf : 0;
}

/* Takes the arrays of the set of characters that has COUNT leaves, at LEAVES and NUMBERS, if the
 * block is one.  Takes the leaves, too. */
LEAKWRAP_INLINE void take_characters(const struct leakwrap_offsets *of, uint64_t count,
                                     leakwrap_word leaves, leakwrap_word numbers)
{
	const leakwrap_word word = of->memory->word, size = of->size_at(of->context, leaves);
	const leakwrap_word place = of->block + 8;

	if (size < count * word || size % word != 0 ||
	    of->size_at(of->context, numbers) != size / word * 2 ||
	    !leakwrap_leads_to_words(of->memory, leaves, (unsigned)count) ||
	    leaf_at(of, leaves, 0) == 0)
		return;
	of->take(of->context, leaves, place);
	of->take(of->context, numbers, place + word);
	for (leakwrap_word i = 0; i < count; i++) {
		const leakwrap_word leaf = leaf_at(of, leaves, i);

		if (leaf != 0)
			of->take(of->context, leaf, leaves + i * word);
	}
}

/* The bytes of the size in front of an element, and the first words of an element in which its
 * distances may be: behind those of a page in the cache, which is an element, are data. */
#define REGION_HEADER     8u
#define ELEMENT_DISTANCES 32u

/* Returns whether the block of SIZE bytes at BLOCK, whose first 8 bytes can be read, is one of a
 * region. */
LEAKWRAP_INLINE bool leakwrap_is_of_region(const struct leakwrap_memory *memory,
                                           leakwrap_word block, leakwrap_word size)
{
	return size > REGION_HEADER && memory->load(memory->context, block, REGION_HEADER) == size;
}

/* Takes the block of a region whose element is at the distance that stands at PLACE from START. */
LEAKWRAP_INLINE void take_element(const struct leakwrap_offsets *of, leakwrap_word start,
                                  leakwrap_word place)
{
	const struct leakwrap_memory *const memory = of->memory;
	const leakwrap_word block = at_distance(of, start, place) - REGION_HEADER;
	leakwrap_word size;

	if (block == of->block || !leakwrap_is_multiple(block, memory->word))
		return;
	size = of->size_at(of->context, block);
	if (size > REGION_HEADER && memory->is_readable(memory->context, block, REGION_HEADER) &&
	    leakwrap_is_of_region(memory, block, size))
		of->take(of->context, block, place);
}

/* Takes what the block of SIZE bytes holds by distances, if it is one of a region. */
LEAKWRAP_INLINE void leakwrap_take_elements(const struct leakwrap_offsets *of, leakwrap_word size)
{
	const struct leakwrap_memory *const memory = of->memory;
	const leakwrap_word word = memory->word, element = of->block + REGION_HEADER;
	const leakwrap_word end = of->block + size, behind = element + ELEMENT_DISTANCES * word;

	if (!memory->is_readable(memory->context, of->block, size))
		return;
	for (leakwrap_word place = element; end - place >= word; place += word) {
		if (leakwrap_word_at(memory, place) == 0)
			continue;
		take_element(of, place, place);
		if (place < behind)
			take_element(of, element, place);
	}
}

/* Takes what the block holds by distances.  It has leakwrap_offsets_size bytes. */
LEAKWRAP_INLINE void leakwrap_take_offsets(const struct leakwrap_offsets *of)
{
	const struct leakwrap_memory *const memory = of->memory;
	const leakwrap_word place = of->block + 8;
	uint64_t first, second;
	leakwrap_word there;

	if (!memory->is_readable(memory->context, of->block, leakwrap_offsets_size(memory)))
		return;
	first = memory->load(memory->context, of->block, 4);
	second = memory->load(memory->context, of->block + 4, 4);
	if (!leakwrap_is_offsets_count(second))
		return;
	there = at_distance(of, of->block, place);
	if (is_pattern(of, first, second, there))
		of->take(of->context, there, place);
	else if (first > 0 && first <= INT32_MAX)
		take_characters(of, second, there,
		                at_distance(of, of->block, place + memory->word));
}

#endif
