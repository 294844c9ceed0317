/* abseil_rules.h - objects of Abseil that are held by pointers into their blocks.
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_ABSEIL_RULES_H
#define LEAKWRAP_ABSEIL_RULES_H

#include "wrap/reach/interior_pointer.h"

/* The state of a generator of random numbers, in bytes and in numbers of 32 bits. */
#define GENERATOR_STATE     256u
#define GENERATOR_NUMBERS   64u
#define GENERATOR_ALIGNMENT 64u

/* Returns true if the pointer leads to a generator of the pool of random numbers.  It has its
 * state, a lock, the address of its keys, a bool, and the number of those that were taken.  Its
 * block has 64 bytes more, to align it, and keeps nothing in front of it: it is never freed
 * (absl/random/internal/pool_urbg.cc, RandenPoolEntry and PoolAlignedAlloc). */
LEAKWRAP_INLINE bool is_random_generator(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, rest = in->pointer + GENERATOR_STATE;

	return in->size == GENERATOR_STATE + 4 * word + GENERATOR_ALIGNMENT &&
	       in->offset < GENERATOR_ALIGNMENT &&
	       leakwrap_is_multiple(in->pointer, GENERATOR_ALIGNMENT) &&
	       leakwrap_leads_to_words(memory, rest, 4) &&
	       leakwrap_leads_to_words(memory, leakwrap_word_at(memory, rest + word), 1) &&
	       leakwrap_word_at(memory, rest + 3 * word) <= GENERATOR_NUMBERS;
}

/* The highest code of an error, and a number that the owners of one do not exceed. */
#define STATUS_CODE_MAX   16u
#define STATUS_OWNERS_MAX 0xffffu

/* Returns true if the block is the error of an absl::Status, and the pointer has a mark in its
 * lowest bit.  It has 32 bits with the number of owners, 32 bits with the code, a std::string and
 * an address.  The string has two words and 16 bytes, with libc++ three words (Abseil before 2023,
 * absl/status/internal/status_internal.h, StatusRep, and absl/status/status.h, PointerToRep). */
LEAKWRAP_INLINE bool is_status(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word;
	uint64_t owners, code;

	if (in->offset != 1 || (in->size != 24 + 3 * word && in->size != 8 + 4 * word) ||
	    !leakwrap_is_multiple(leakwrap_word_at(memory, in->block + in->size - word), word))
		return false;
	owners = memory->load(memory->context, in->block, 4);
	code = memory->load(memory->context, in->block + 4, 4);
	return owners > 0 && owners <= STATUS_OWNERS_MAX && code > 0 && code <= STATUS_CODE_MAX;
}

LEAKWRAP_INLINE bool is_of_abseil(const struct leakwrap_interior *in)
{
	return is_random_generator(in) || is_status(in);
}

#endif
