/* end_rules.h - blocks that a program holds by their end, because what it asked for has no bytes:
 *
 *   - the arguments of a function of PHP that has none, behind what the function returns
 *   - a block of Mesa's ralloc, of mpv or of libtalloc that has a header alone
 *   - an empty element of Berkeley DB, which has its size alone, if an array's cookie is as large
 *
 * An array by new[] without elements is held so, too (array_rules.h).
 *
 * For wrap/reach/interior.c, and for tools/image/interior.c.
 */
#ifndef LEAKWRAP_END_RULES_H
#define LEAKWRAP_END_RULES_H

#include "wrap/rules/offset_rules.h"
#include "wrap/rules/php_rules.h"
#include "wrap/rules/ralloc_rules.h"
#include "wrap/rules/ta_rules.h"
#include "wrap/rules/talloc_rules.h"

/* The sizes of these blocks in words, as an initializer.  Each kind of block has its own size.  An
 * empty element has the size of an array's cookie, which is asked for anyway. */
#define LEAKWRAP_END_WORDS                                                     \
	{                                                                      \
		LEAKWRAP_PHP_ARGUMENT_WORDS, LEAKWRAP_RALLOC_HEADER_WORDS,     \
		        LEAKWRAP_TA_HEADER_WORDS, LEAKWRAP_TALLOC_HEADER_WORDS \
	}

/* Returns whether the block of WORDS words at BLOCK, which can be read, may be such a block.  The
 * address of its end stands at PLACE. */
LEAKWRAP_INLINE bool is_held_by_end(const struct leakwrap_memory *memory, leakwrap_word block,
                                    leakwrap_word words, leakwrap_word place)
{
	if (!leakwrap_is_multiple(block, memory->word))
		return false;
	if (words * memory->word == REGION_HEADER)
		return memory->load(memory->context, block, REGION_HEADER) == REGION_HEADER;
	switch (words) {
	case LEAKWRAP_PHP_ARGUMENT_WORDS:
		return is_php_function_of_none(memory, place);
	case LEAKWRAP_RALLOC_HEADER_WORDS:
		return is_ralloc_header(memory, block);
	case LEAKWRAP_TA_HEADER_WORDS:
		return is_ta_header(memory, block, LEAKWRAP_TA_HEADER_WORDS, 0);
	case LEAKWRAP_TALLOC_HEADER_WORDS:
		return is_talloc_chunk_of_none(memory, block);
	default:
		return false;
	}
}

#endif
