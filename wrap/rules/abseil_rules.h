/* abseil_rules.h - objects of Abseil that are held by pointers into their blocks.
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_ABSEIL_RULES_H
#define LEAKWRAP_ABSEIL_RULES_H

#include "wrap/rules/interior_pointer.h"

/* The state of a generator of random numbers, in bytes and in numbers of 32 bits. */
#define GENERATOR_STATE     256u
#define GENERATOR_NUMBERS   64u
#define GENERATOR_ALIGNMENT 64u

/* Returns whether ADDRESS is in a module.  Constant data may lie among the code. */
LEAKWRAP_INLINE bool is_in_module(const struct leakwrap_memory *memory, leakwrap_word address)
{
	return memory->is_constant(memory->context, address) ||
	       memory->is_code(memory->context, address);
}

/* Returns whether no number of 32 bits is 0 in the state of a generator at ADDRESS.  The state is
 * random, other data seldom is so dense. */
LEAKWRAP_INLINE bool is_random_state(const struct leakwrap_memory *memory, leakwrap_word address)
{
	for (unsigned i = 0; i < GENERATOR_NUMBERS; i++)
		if (memory->load(memory->context, address + (leakwrap_word)4 * i, 4) == 0)
			return false;
	return true;
}

/* Returns true if the pointer leads to a generator of the pool of random numbers.  It has its
 * state, a lock, the address of its keys, which are constant, a bool, and the number of those that
 * were taken.  Its block has 64 bytes more, to align it, and keeps nothing in front of it: it is
 * never freed (absl/random/internal/pool_urbg.cc, RandenPoolEntry and PoolAlignedAlloc). */
LEAKWRAP_INLINE bool is_random_generator(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, rest = in->pointer + GENERATOR_STATE;

	return in->size == GENERATOR_STATE + 4 * word + GENERATOR_ALIGNMENT &&
	       in->offset < GENERATOR_ALIGNMENT &&
	       leakwrap_is_multiple(in->pointer, GENERATOR_ALIGNMENT) &&
	       leakwrap_leads_to_words(memory, in->pointer, GENERATOR_STATE / (unsigned)word + 4) &&
	       leakwrap_word_at(memory, rest + 3 * word) <= GENERATOR_NUMBERS &&
	       memory->load(memory->context, rest + 2 * word, 1) <= 1 &&
	       is_in_module(memory, leakwrap_word_at(memory, rest + word)) &&
	       is_random_state(memory, in->pointer);
}

/* The highest code of an error, and a number that the owners of one do not exceed. */
#define STATUS_CODE_MAX   16u
#define STATUS_OWNERS_MAX 0xffffu

/* Returns whether CHARACTERS may be those of a string of LENGTH, with room for CAPACITY: behind
 * them is a 0. */
LEAKWRAP_INLINE bool are_characters(const struct leakwrap_memory *memory, leakwrap_word characters,
                                    leakwrap_word length, leakwrap_word capacity)
{
	return length <= capacity && capacity + 1 != 0 && characters != 0 &&
	       memory->is_readable(memory->context, characters, capacity + 1) &&
	       memory->load(memory->context, characters + length, 1) == 0 &&
	       (length == 0 || memory->load(memory->context, characters + length - 1, 1) != 0);
}

/* Returns whether a std::string of libstdc++ is at ADDRESS: the address of the characters, their
 * number, and 16 bytes, in which they are or their capacity is.  Sets *IS_EMPTY. */
LEAKWRAP_INLINE bool is_gnu_string(const struct leakwrap_memory *memory, leakwrap_word address,
                                   bool *is_empty)
{
	const leakwrap_word inside = address + 2 * memory->word;
	const leakwrap_word characters = leakwrap_word_at(memory, address);
	const leakwrap_word length = leakwrap_word_at(memory, address + memory->word);

	*is_empty = length == 0;
	return are_characters(memory, characters, length,
	                      characters == inside ? 15 : leakwrap_word_at(memory, inside));
}

/* Returns whether a std::string of libc++ is at ADDRESS.  If the lowest bit is set, it has the
 * bytes of its block, which are even, the number of its characters, and their address.  Else its
 * first byte is twice the number, and the characters follow.  Sets *IS_EMPTY. */
LEAKWRAP_INLINE bool is_llvm_string(const struct leakwrap_memory *memory, leakwrap_word address,
                                    bool *is_empty)
{
	const leakwrap_word word = memory->word, room = leakwrap_word_at(memory, address);
	const leakwrap_word length =
	        room % 2 == 0 ? room % 256 / 2 : leakwrap_word_at(memory, address + word);

	*is_empty = length == 0;
	return room % 2 == 0 ? are_characters(memory, address + 1, length, 3 * word - 2)
	                     : are_characters(memory, leakwrap_word_at(memory, address + 2 * word),
	                                      length, room - 2);
}

/* Returns true if the block is the error of an absl::Status, and the pointer has a mark in its
 * lowest bit.  It has 32 bits with the number of owners, 32 bits with the code, a std::string and
 * the address of what else belongs to the error, or 0.  The string has two words and 16 bytes, with
 * libc++ three words.  An error with neither of them has no block (Abseil before 2023,
 * absl/status/internal/status_internal.h, StatusRep, and absl/status/status.h, PointerToRep). */
LEAKWRAP_INLINE bool is_status(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, string = in->block + 8;
	const bool is_gnu = in->size == 24 + 3 * word;
	leakwrap_word others;
	uint64_t owners, code;
	bool is_empty;

	if (in->offset != 1 || (!is_gnu && in->size != 8 + 4 * word))
		return false;
	others = leakwrap_word_at(memory, in->block + in->size - word);
	owners = memory->load(memory->context, in->block, 4);
	code = memory->load(memory->context, in->block + 4, 4);
	return owners > 0 && owners <= STATUS_OWNERS_MAX && code > 0 && code <= STATUS_CODE_MAX &&
	       (others == 0 || leakwrap_leads_to_words(memory, others, 1)) &&
	       (is_gnu ? is_gnu_string(memory, string, &is_empty)
	               : is_llvm_string(memory, string, &is_empty)) &&
	       (!is_empty || others != 0);
}

LEAKWRAP_INLINE bool is_of_abseil(const struct leakwrap_interior *in)
{
	return is_random_generator(in) || is_status(in);
}

#endif
