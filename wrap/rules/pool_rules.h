/* pool_rules.h - pools that a program holds by a pointer into one of their blocks:
 *
 *   - a pool that lies in the oldest of its own blocks.  The pointer leads to the pool, or to an
 *     object in the block that knows its pool.  Each block of the pool begins with the address of
 *     the one before it, and the oldest with 0.  The pool begins with the address of its functions,
 *     and has the address of its newest block (Dovecot 2.3, src/lib/mempool-alloconly.c, struct
 *     alloconly_pool and struct pool_block)
 *   - a pool in a block for itself.  The pointer leads to an object that knows its pool, such as a
 *     page in which MuPDF has found text.  The pool begins with a size.  Then it has the address of
 *     its first block, and each block begins with that of the next (MuPDF 1.21, source/fitz/pool.c,
 *     struct fz_pool and struct fz_pool_node)
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_POOL_RULES_H
#define LEAKWRAP_POOL_RULES_H

#include "wrap/rules/cxx_rules.h"
#include "wrap/rules/interior_pointer.h"

/* A pool is the first part of its oldest block.  In front of it are at most this many words: the
 * block's header, which has four, and what builds with checks keep of each part. */
#define POOL_AT_WORDS 8u

/* Words of a pool, of which one is the address of its newest block. */
#define POOL_WORDS 8u

/* Blocks of a pool that are followed.  Each is larger than those before it. */
#define POOL_BLOCKS 32u

/* Words of an object, of which one may be the address of its pool. */
#define OBJECT_WORDS 64u

/* Returns whether the addresses at which blocks begin lead from the block at NEWEST to the block
 * that IN leads into. */
LEAKWRAP_INLINE bool leads_to_oldest(const struct leakwrap_interior *in, leakwrap_word newest)
{
	for (unsigned i = 0; i < POOL_BLOCKS && newest != in->block; i++) {
		if (!leakwrap_leads_to_words(in->memory, newest, 1))
			return false;
		newest = leakwrap_word_at(in->memory, newest);
	}
	return newest == in->block;
}

/* Returns whether the part is a pool, whose oldest block is that which IN leads into. */
LEAKWRAP_INLINE bool is_pool(const struct leakwrap_interior *in)
{
	const unsigned words = in->offset <= POOL_AT_WORDS * in->memory->word
	                               ? leakwrap_words_of_part(in, POOL_WORDS)
	                               : 0;

	if (words == 0 || !is_vtable(in->memory, leakwrap_word_of_part(in, 0)))
		return false;
	for (unsigned i = 1; i < words; i++)
		if (leads_to_oldest(in, leakwrap_word_of_part(in, i)))
			return true;
	return false;
}

/* Returns whether the part is such a pool, or an object that has the address of such a pool in the
 * same block. */
LEAKWRAP_INLINE bool is_with_pool(const struct leakwrap_interior *in)
{
	const unsigned words = leakwrap_words_of_part(in, OBJECT_WORDS);
	struct leakwrap_interior pool = *in;

	if (words == 0 || in->offset < in->memory->word || leakwrap_word_of(in, 0) != 0)
		return false;
	if (is_pool(in))
		return true;
	for (unsigned i = 0; i < words; i++) {
		pool.pointer = leakwrap_word_of_part(in, i);
		pool.offset = pool.pointer - in->block;
		if (pool.offset < in->size && is_pool(&pool))
			return true;
	}
	return false;
}

/* The words of an object, and those of the pool in a block for itself, that are looked at. */
#define KNOWING_WORDS 8u
#define APART_WORDS   4u

/* Returns whether a block begins at POOL that has, behind its first word, an address from which
 * addresses at which blocks begin lead to the block that IN leads into. */
LEAKWRAP_INLINE bool is_pool_apart(const struct leakwrap_interior *in, leakwrap_word pool)
{
	const struct leakwrap_memory *const memory = in->memory;
	leakwrap_word block, size;

	if (pool - in->block < in->size || !leakwrap_leads_to_words(memory, pool, APART_WORDS) ||
	    !memory->find_block(memory->context, pool, &block, &size) || block != pool ||
	    size < APART_WORDS * memory->word)
		return false;
	for (unsigned i = 1; i < APART_WORDS; i++)
		if (leads_to_oldest(in, leakwrap_word_at(memory, pool + i * memory->word)))
			return true;
	return false;
}

/* Returns whether the part is an object that has the address of such a pool among its first words.
 * A program that has the object gets to the pool, and from there to the block's start. */
LEAKWRAP_INLINE bool knows_pool_apart(const struct leakwrap_interior *in)
{
	const unsigned words = leakwrap_words_of_part(in, KNOWING_WORDS);

	for (unsigned i = 0; i < words; i++)
		if (is_pool_apart(in, leakwrap_word_of_part(in, i)))
			return true;
	return false;
}

#endif
