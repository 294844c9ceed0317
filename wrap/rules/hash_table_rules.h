/* hash_table_rules.h - hash tables that are held by a pointer to their control bytes:
 *
 *   - those of Rust's standard library, whose elements are in front of the control bytes
 *   - those of Abseil, whose elements are behind them
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_HASH_TABLE_RULES_H
#define LEAKWRAP_HASH_TABLE_RULES_H

#include "wrap/rules/interior_pointer.h"

/* Elements of a hash table that code with SSE2 compares in one step.  Other code compares as many
 * as a word has bytes. */
#define GROUP 16u

/* -- Rust -------------------------------------------------------------------------------------- */

/* Returns true if BYTE may be a control byte of a hash table: seven bits of a hash, or an element
 * that is empty or was removed. */
LEAKWRAP_INLINE bool is_control(unsigned byte)
{
	return byte <= 0x80 || byte == 0xff;
}

/* A table of 2^n elements is followed by a control byte for each of them, and by the first control
 * bytes once more, as many as a group has.  If the table has fewer elements than a group, the
 * control bytes of the missing ones are there, and empty (hashbrown, src/raw/mod.rs, set_ctrl). */
LEAKWRAP_INLINE bool is_table_with(const struct leakwrap_interior *in, leakwrap_word group)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word elements = in->size - in->offset - group;
	const leakwrap_word repeated = elements < group ? elements : group;
	const leakwrap_word again = in->block + in->size - repeated;
	unsigned used = 0;

	if (in->size - in->offset <= group || repeated < 4 || (elements & (elements - 1)) != 0 ||
	    !leakwrap_is_multiple(in->offset, repeated) ||
	    !leakwrap_is_multiple(in->pointer, group))
		return false;
	for (unsigned i = 0; i < repeated; i += 4)
		if (memory->load(memory->context, in->pointer + i, 4) !=
		    memory->load(memory->context, again + i, 4))
			return false;
	for (unsigned i = 0; i < group; i++) {
		const unsigned control =
		        (unsigned)memory->load(memory->context, in->pointer + i, 1);

		if (i < elements ? !is_control(control) : control != 0xff)
			return false;
		used |= control;
	}
	return used != 0; /* zeros may be anything */
}

LEAKWRAP_INLINE bool is_hash_table(const struct leakwrap_interior *in)
{
	return is_table_with(in, GROUP) ||
	       (!in->memory->has_sse2 && is_table_with(in, in->memory->word));
}

/* -- Abseil ------------------------------------------------------------------------------------ */

/* Elements that Abseil's code without SSE2 compares in one step, whatever a word is. */
#define PORTABLE_GROUP 8u

/* The control bytes of no element, of an element that was removed, and of the end. */
#define EMPTY    0x80u
#define REMOVED  0xfeu
#define SENTINEL 0xffu

/* Elements are aligned to this at most, and the size of a block to this at least. */
#define ELEMENT_ALIGN_MAX 16u
#define TABLE_ALIGN       8u

/* Returns whether ROOM elements may fill the block behind END. */
LEAKWRAP_INLINE bool is_filled_by(const struct leakwrap_interior *in, leakwrap_word end,
                                  leakwrap_word room)
{
	for (leakwrap_word align = 1; align <= ELEMENT_ALIGN_MAX; align *= 2) {
		const leakwrap_word start = (end + align - 1) & ~(align - 1);

		if (start < in->size && (in->size - start) % room < TABLE_ALIGN)
			return true;
	}
	return false;
}

/* Returns whether the control bytes are those of ROOM elements: a byte for each, the sentinel, and
 * the first bytes once more, fewer by one than GROUP.  There, missing elements are empty. */
LEAKWRAP_INLINE bool has_controls(const struct leakwrap_interior *in, leakwrap_word room,
                                  leakwrap_word group)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word end = in->offset + room + group, again = in->pointer + room + 1;
	uint64_t used = 0;

	if (end >= in->size || !is_filled_by(in, end, room) ||
	    !memory->is_readable(memory->context, in->pointer, room + group) ||
	    memory->load(memory->context, again - 1, 1) != SENTINEL)
		return false;
	for (leakwrap_word i = 0; i < group - 1; i++) {
		const uint64_t control =
		        i < room ? memory->load(memory->context, in->pointer + i, 1) : EMPTY;

		if ((!is_control((unsigned)control) && control != REMOVED) || control == SENTINEL ||
		    control != memory->load(memory->context, again + i, 1))
			return false;
		used |= control;
	}
	return used != 0; /* zeros may be anything */
}

/* The elements of a table have room for 2^n - 1.  In front of the control bytes stands how many
 * more may come, with a mark in the highest bit, and in some tables the address of their statistics
 * before that (absl/container/internal/raw_hash_set.h, class RawHashSetLayout). */
LEAKWRAP_INLINE bool is_swiss_table(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word;
	uint64_t more;

	if (in->offset != word && in->offset != 2 * word)
		return false;
	more = leakwrap_word_at(memory, in->pointer - word) & (UINT64_MAX >> (65 - 8 * word));
	for (leakwrap_word room = 1; room < in->size; room = 2 * room + 1)
		if (more <= room &&
		    (has_controls(in, room, GROUP) || has_controls(in, room, PORTABLE_GROUP)))
			return true;
	return false;
}

/* The characters of a key of Vim that are looked at, with the zero behind them.  Each word in front
 * of a pointer may be a hash, and most of these words are addresses or small numbers, which have up
 * to 48 bits.  The hash of a key with 8 characters has more, and that of a longer one has so few
 * once in 65,536 times. */
#define KEY_MAX       256u
#define SHORT_KEY_MAX 8u
#define LONG_KEY_BITS 48u

/* Returns whether the pointer leads to a key within an item of Vim's hash tables.  A table has the
 * hash of the key and its address, and no other pointer to the item (Vim 9.0, src/hashtab.c,
 * hash_hash, and src/structs.h, hashitem_T and dictitem_T).  The empty key is not known.  Nor
 * is an aligned one of one character: it may be a number, and the word in front of the pointer the
 * same number. */
LEAKWRAP_INLINE bool is_hashed_key(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, rest = in->size - in->offset;
	const leakwrap_word least = leakwrap_is_multiple(in->pointer, 4) ? 2 : 1;
	leakwrap_word most = KEY_MAX, wanted, hash = 0;

	if (!leakwrap_leads_to_words(memory, in->place - word, 1))
		return false;
	wanted = leakwrap_word_at(memory, in->place - word);
	if (word == 8 && (uint64_t)wanted >> LONG_KEY_BITS == 0)
		most = SHORT_KEY_MAX;
	if (most > rest)
		most = rest;
	if (!memory->is_readable(memory->context, in->pointer, most))
		return false;
	for (leakwrap_word i = 0; i < most; i++) {
		const uint64_t character = memory->load(memory->context, in->pointer + i, 1);

		if (character == 0)
			return i >= least && (uint64_t)(hash - wanted) << (64 - 8 * word) == 0;
		hash = hash * 101 + (leakwrap_word)character;
	}
	return false;
}

#endif
