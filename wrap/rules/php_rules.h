/* php_rules.h - blocks of PHP, which are held by a pointer behind their start:
 *
 *   - the elements of a table, behind the hashes
 *   - what a function of an extension returns and takes, from the second argument on
 *
 * The place where the pointer stands tells what it leads to.
 *
 * For interior_rules.h, and for who finds functions without arguments.
 */
#ifndef LEAKWRAP_PHP_RULES_H
#define LEAKWRAP_PHP_RULES_H

#include "wrap/rules/interior_pointer.h"

/* The bytes of an element without a key. */
#define PHP_VALUE 16u

/* Returns whether the pointer is that of a table to its elements.  Each hash takes 32 bits.  In
 * front of the pointer stands their number, negative in 32 bits.  Behind it are three numbers of 32
 * bits: how many elements were added, how many there are, and for how many there is room.  An
 * element has a value, a hash and the address of a key.  From PHP 8.2 on the elements of a list
 * have a value alone (PHP 8.2, Zend/zend_types.h, struct _zend_array, struct _Bucket and
 * HT_HASH_SIZE). */
LEAKWRAP_INLINE bool is_php_table(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, rest = in->size - in->offset;
	const leakwrap_word numbers = in->place + word;
	uint64_t hashes, used, room;

	if (!leakwrap_is_multiple(in->place, word) ||
	    !memory->is_readable(memory->context, in->place - 4, 4 + word + 12))
		return false;
	hashes = (UINT32_MAX ^ memory->load(memory->context, in->place - 4, 4)) + 1;
	used = memory->load(memory->context, numbers, 4);
	room = memory->load(memory->context, numbers + 8, 4);
	return hashes * 4 == in->offset && used <= room &&
	       memory->load(memory->context, numbers + 4, 4) <= used &&
	       (room * (PHP_VALUE + 2 * word) == rest || room * PHP_VALUE == rest);
}

/* The words of an argument: its name, its type, which has two, and its default value. */
#define LEAKWRAP_PHP_ARGUMENT_WORDS 4u

/* The type of a function of an extension, the flag of one that only a class declares, and words
 * behind the address of its arguments, of which one is the address of its code. */
#define PHP_INTERNAL_FUNCTION 1u
#define PHP_ABSTRACT          0x40u
#define PHP_WORDS_TO_CODE     6u

/* Returns whether PLACE is where a function of an extension has the address of its arguments, and
 * sets *ARGUMENTS to their number.  In front of that stand 32 bits of which 8 are the type, 32 bits
 * of flags, the addresses of its name, its class and another function, and in 32 bits each how many
 * arguments it has and how many it needs (PHP 8.2, Zend/zend_compile.h, struct
 * _zend_internal_function). */
LEAKWRAP_INLINE bool is_php_function(const struct leakwrap_memory *memory, leakwrap_word place,
                                     uint64_t *arguments)
{
	const leakwrap_word word = memory->word, start = place - (16 + 3 * word);

	if (!leakwrap_leads_to_words(memory, start, 16 / (unsigned)word + 4 + PHP_WORDS_TO_CODE) ||
	    memory->load(memory->context, start, 1) != PHP_INTERNAL_FUNCTION ||
	    !leakwrap_leads_to_words(memory, leakwrap_word_at(memory, start + 8), 3))
		return false;
	*arguments = memory->load(memory->context, place - 8, 4);
	if (memory->load(memory->context, place - 4, 4) > *arguments)
		return false;
	if ((memory->load(memory->context, start + 4, 4) & PHP_ABSTRACT) != 0)
		return leakwrap_leads_to_words(memory, leakwrap_word_at(memory, start + 8 + word),
		                               3);
	for (unsigned i = 1; i <= PHP_WORDS_TO_CODE; i++)
		if (memory->is_code(memory->context, leakwrap_word_at(memory, place + i * word)))
			return true;
	return false;
}

/* Returns whether the pointer is that of a function to its arguments, behind what it returns.  One
 * argument more may stand for all others (Zend/zend_API.c, zend_register_functions). */
LEAKWRAP_INLINE bool is_php_argument(const struct leakwrap_interior *in)
{
	const leakwrap_word bytes = LEAKWRAP_PHP_ARGUMENT_WORDS * in->memory->word;
	const leakwrap_word rest = in->size - in->offset;
	uint64_t arguments;

	return in->offset == bytes && rest % bytes == 0 &&
	       is_php_function(in->memory, in->place, &arguments) &&
	       (rest / bytes == arguments || rest / bytes == arguments + 1);
}

/* Returns whether PLACE is where a function without arguments has the address of the first, which
 * is the end of a block of LEAKWRAP_PHP_ARGUMENT_WORDS words. */
LEAKWRAP_INLINE bool is_php_function_of_none(const struct leakwrap_memory *memory,
                                             leakwrap_word place)
{
	uint64_t arguments;

	return is_php_function(memory, place, &arguments) && arguments == 0;
}

LEAKWRAP_INLINE bool is_of_php(const struct leakwrap_interior *in)
{
	return is_php_table(in) || is_php_argument(in);
}

#endif
