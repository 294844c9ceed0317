/* chain_rules.h - the parts of a block by which lists hold it whose nodes have one link, the
 * address of the next node:
 *
 *   - a node in a block that is as large as that of the node before it or behind it, and as far
 *     from the block's start.  Such are the nodes of the queues and stacks of Userspace RCU
 *     (liburcu 0.13, urcu/wfcqueue.h, urcu/wfstack.h, urcu/lfstack.h) and the stacks of Concurrency
 *     Kit (0.7, ck_stack.h)
 *   - a node of a hash table of Userspace RCU, whose chain goes on to a bucket
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_CHAIN_RULES_H
#define LEAKWRAP_CHAIN_RULES_H

#include "wrap/rules/interior_pointer.h"

/* Returns whether the word at ADDRESS has the place in another block that the part has in its own:
 * the blocks have one size, and the places one distance from their starts. */
LEAKWRAP_INLINE bool is_same_place(const struct leakwrap_interior *in, leakwrap_word address)
{
	leakwrap_word block, size;

	return address - in->block >= in->size &&
	       in->memory->find_block(in->memory->context, address, &block, &size) &&
	       size == in->size && address - block == in->offset;
}

/* Some lists mark their end by a small number, as wfstack.h does by 1. */
#define CHAIN_END_MAX ((leakwrap_word)255)

/* Returns whether the part is a node of a list, as is the word to which it leads or the word by
 * which it is held. */
LEAKWRAP_INLINE bool is_chained(const struct leakwrap_interior *in)
{
	leakwrap_word next;

	if (leakwrap_words_of_part(in, 1) == 0)
		return false;
	next = leakwrap_word_of_part(in, 0);
	if (leakwrap_leads_to_words(in->memory, next, 1))
		return is_same_place(in, next) || is_same_place(in, in->place);
	return next <= CHAIN_END_MAX && is_same_place(in, in->place);
}

/* A node has the address of the next one, with marks in the three lowest bits, and its hash, whose
 * bits are in reverse order.  The nodes of a table are one chain, in the order of their reversed
 * hashes.  Buckets are nodes among them with a mark and, as their hash, their number in the table
 * (liburcu 0.13, src/rculfhash.c). */
#define RCU_MARKS      ((leakwrap_word)7)
#define RCU_IS_REMOVED ((leakwrap_word)1)
#define RCU_IS_BUCKET  ((leakwrap_word)2)

/* Nodes that are followed on the way to a bucket.  A table that has not grown yet has long chains.
 */
#define RCU_NODES_MAX 1024u

/* Returns whether a bucket may have the reversed hash HASH: of its number, the upper half is 0. */
LEAKWRAP_INLINE bool is_bucket_hash(const struct leakwrap_memory *memory, leakwrap_word hash)
{
	return leakwrap_is_multiple(hash, (leakwrap_word)1 << 4 * memory->word);
}

/* Returns whether the pointer stands in a bucket, and the part may follow that with HASH. */
LEAKWRAP_INLINE bool stands_in_bucket(const struct leakwrap_interior *in, leakwrap_word hash)
{
	const struct leakwrap_memory *const memory = in->memory;
	leakwrap_word before;

	if ((in->pointer & RCU_IS_BUCKET) == 0 || hash == 0 ||
	    !leakwrap_leads_to_words(memory, in->place, 2))
		return false;
	before = leakwrap_word_at(memory, in->place + memory->word);
	return before <= hash && is_bucket_hash(memory, before);
}

/* Returns whether the part is a node of a hash table of Userspace RCU: its chain comes to a bucket,
 * or begins in one. */
LEAKWRAP_INLINE bool is_rcu_node(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	leakwrap_word node = in->pointer & ~RCU_MARKS, next, hash, last = 0, first = 0;

	if (in->size - (node - in->block) < 2 * memory->word)
		return false;
	for (unsigned i = 0; i < RCU_NODES_MAX && node != 0; i++) {
		if (!leakwrap_leads_to_words(memory, node, 2))
			return false;
		next = leakwrap_word_at(memory, node);
		hash = leakwrap_word_at(memory, node + memory->word);
		node = next & ~RCU_MARKS;
		if (hash < last || (i == 0 && (next & RCU_IS_REMOVED) != 0))
			return false;
		if (i == 0)
			first = hash;
		else if ((next & RCU_IS_BUCKET) != 0)
			return is_bucket_hash(memory, hash) &&
			       (node == 0 || leakwrap_leads_to_words(memory, node, 2));
		last = hash;
	}
	return stands_in_bucket(in, first);
}

#endif
