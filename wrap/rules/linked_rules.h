/* linked_rules.h - the parts of a block by which lists, trees and event loops hold it:
 *
 *   - a node: one of its first four words is the address of another node outside of the block, one
 *     of whose first four words leads back.  Marks in the two lowest bits do not count.  Such are
 *     the nodes of Linux's and libuv's lists (struct list_head; libuv 1.44, src/queue.h), those of
 *     red-black trees with parents (struct rb_node; nginx, src/core/ngx_rbtree.h), and the hooks
 *     of Boost.Intrusive (boost/intrusive/detail/list_node.hpp)
 *   - a node of a hash table, if a bucket leads to it and the node before it to the bucket, or if
 *     it leads to a bucket, and the bucket's node leads back (Boost.MultiIndex)
 *   - the only node of a red-black tree that keeps its root and its leftmost node side by side
 *     (Linux, struct rb_root_cached; keepalived)
 *   - the only node of a list that keeps its first node, its last node and their number side by
 *     side (FRRouting 8.4, lib/typesafe.h, struct slist_head)
 *   - the only node of a list that keeps its first and its last node side by side, in an object
 *     that begins with a state machine (nanomsg 1.1.5, src/utils/list.h, struct nn_list, and
 *     src/aio/fsm.h, struct nn_fsm)
 *   - a node that was taken out of its list, or a part at most three words in front of it, if a
 *     thread or a variable has it: both links of the node lead to itself.  The block is worked on
 *     (libuv 1.44, src/threadpool.c, worker; Linux, list_del_init)
 *   - what is behind the links of a list, if these lead behind the links of its neighbours, too.
 *     Such is a clone of PARI (2.15, src/headers/paripriv.h, BL_HEAD)
 *   - a watcher of libev that is active (4.33, ev.h, EV_WATCHER)
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_LINKED_RULES_H
#define LEAKWRAP_LINKED_RULES_H

#include "wrap/rules/interior_pointer.h"

/* The first words of a node, in which its links are.  Their lowest bits may be marks. */
#define LINKS 4u
#define MARKS ((leakwrap_word)3)

/* The first words of a part that the rules read. */
#define PART_WORDS 5u

/* Returns whether one of the links of the node at NODE leads to the part. */
LEAKWRAP_INLINE bool leads_back(const struct leakwrap_interior *in, leakwrap_word node)
{
	for (unsigned i = 0; i < LINKS; i++)
		if ((leakwrap_word_at(in->memory, node + i * in->memory->word) & ~MARKS) ==
		    in->pointer)
			return true;
	return false;
}

/* Returns whether the part, which has WORDS words, is a node of a list or tree. */
LEAKWRAP_INLINE bool is_node(const struct leakwrap_interior *in, unsigned words)
{
	for (unsigned i = 0; i < words && i < LINKS; i++) {
		const leakwrap_word other = leakwrap_word_of_part(in, i) & ~MARKS;

		if (other - in->block >= in->size &&
		    leakwrap_leads_to_words(in->memory, other, LINKS) && leads_back(in, other))
			return true;
	}
	return false;
}

/* Returns whether the word NUMBER at LINK is the address of a word that leads to the part.  Both
 * words are outside of the block. */
LEAKWRAP_INLINE bool leads_back_by_word(const struct leakwrap_interior *in, leakwrap_word link,
                                        unsigned number)
{
	const struct leakwrap_memory *const memory = in->memory;
	leakwrap_word next;

	if (link - in->block < in->size || !leakwrap_leads_to_words(memory, link, number + 1))
		return false;
	next = leakwrap_word_at(memory, link + number * memory->word);
	return next - in->block >= in->size && leakwrap_leads_to_words(memory, next, 1) &&
	       leakwrap_word_at(memory, next) == in->pointer;
}

/* Returns whether the part, which has WORDS words, is the first or the last node of its bucket in a
 * hash table of Boost.MultiIndex.  A node has the address of the node before it, and that of the
 * next node.  In the last node of a bucket the address of the next bucket takes the place of the
 * second.  A bucket is the address of its first node (1.74,
 * boost/multi_index/detail/hash_index_node.hpp). */
LEAKWRAP_INLINE bool is_at_bucket(const struct leakwrap_interior *in, unsigned words)
{
	return words >= 2 && (leads_back_by_word(in, leakwrap_word_of_part(in, 0), 1) ||
	                      leads_back_by_word(in, leakwrap_word_of_part(in, 1), 0));
}

/* Returns whether the word at ADDRESS can be read and is the pointer. */
LEAKWRAP_INLINE bool is_same_pointer(const struct leakwrap_interior *in, leakwrap_word address)
{
	return leakwrap_leads_to_words(in->memory, address, 1) &&
	       leakwrap_word_at(in->memory, address) == in->pointer;
}

/* Returns whether the pointer stands twice, side by side.  Stores the address behind both in
 * *BEHIND. */
LEAKWRAP_INLINE bool stands_twice(const struct leakwrap_interior *in, leakwrap_word *behind)
{
	const leakwrap_word word = in->memory->word;

	if (in->place < word)
		return false;
	*behind = in->place + word;
	if (is_same_pointer(in, in->place - word))
		return true;
	*behind += word;
	return is_same_pointer(in, in->place + word);
}

/* The first word of a node without a parent, which is black (Linux, include/linux/rbtree.h, struct
 * rb_node and RB_BLACK). */
#define BLACK_ROOT 1u

/* Returns whether the part, which has WORDS words, is the only node of a red-black tree.  Such a
 * node has no children.  It is the tree's root and its leftmost node. */
LEAKWRAP_INLINE bool is_only_branch(const struct leakwrap_interior *in, unsigned words)
{
	leakwrap_word behind;

	return words >= 3 && leakwrap_word_of_part(in, 0) == BLACK_ROOT &&
	       leakwrap_word_of_part(in, 1) == 0 && leakwrap_word_of_part(in, 2) == 0 &&
	       stands_twice(in, &behind);
}

/* Returns whether the part, which has WORDS words, is the only node of a list.  The word behind the
 * addresses of the first and the last node is their number.  The node leads to no other node: it
 * holds 0, or the address of a variable that marks the list's end. */
LEAKWRAP_INLINE bool is_only_item(const struct leakwrap_interior *in, unsigned words)
{
	const struct leakwrap_memory *const memory = in->memory;
	leakwrap_word behind, next, block, size;

	if (words == 0 || !stands_twice(in, &behind) ||
	    !leakwrap_leads_to_words(memory, behind, 1) || leakwrap_word_at(memory, behind) != 1)
		return false;
	next = leakwrap_word_of_part(in, 0);
	return next == 0 || (leakwrap_leads_to_words(memory, next, 1) &&
	                     !memory->find_block(memory->context, next, &block, &size));
}

/* Returns whether the block begins with a state machine of nanomsg: the addresses of two functions,
 * two numbers of 32 bits, the address of who made it or 0, and the addresses of its owner and of
 * the lock that both have. */
LEAKWRAP_INLINE bool begins_with_machine(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const unsigned owner = 8 / (unsigned)memory->word + 3;

	return in->offset >= (owner + 2) * memory->word &&
	       memory->is_code(memory->context, leakwrap_word_of(in, 0)) &&
	       memory->is_code(memory->context, leakwrap_word_of(in, 1)) &&
	       leakwrap_leads_to_words(memory, leakwrap_word_of(in, owner), 1) &&
	       leakwrap_leads_to_words(memory, leakwrap_word_of(in, owner + 1), 1);
}

/* Returns whether the part, which has WORDS words, is the only node of a list of nanomsg: it leads
 * to no other node. */
LEAKWRAP_INLINE bool is_only_machine(const struct leakwrap_interior *in, unsigned words)
{
	leakwrap_word behind;

	return words >= 2 && leakwrap_word_of_part(in, 0) == 0 &&
	       leakwrap_word_of_part(in, 1) == 0 && stands_twice(in, &behind) &&
	       begins_with_machine(in);
}

/* Returns whether one of the first words of the part, which has WORDS words, begins a node that was
 * taken out of its list.  Another node of that list may keep the node's address after it was taken
 * out, too, so a pointer in a block does not count, nor one that stands twice, as in such a node.
 */
LEAKWRAP_INLINE bool is_worked_on(const struct leakwrap_interior *in, unsigned words)
{
	const struct leakwrap_memory *const memory = in->memory;
	leakwrap_word node = in->pointer, behind, block, size;

	for (unsigned i = 0; i < LINKS && i + 1 < words; i++, node += memory->word)
		if (leakwrap_word_of_part(in, i) == node &&
		    leakwrap_word_of_part(in, i + 1) == node)
			return !stands_twice(in, &behind) &&
			       !memory->find_block(memory->context, in->place, &block, &size);
	return false;
}

/* The words in front of a part in which its links may be. */
#define LINKS_IN_FRONT 8u

/* Returns whether the pointer stands in front of NODE, NUMBER - 1 or NUMBER + 1 words before it. */
LEAKWRAP_INLINE bool leads_back_in_front(const struct leakwrap_interior *in, leakwrap_word node,
                                         unsigned number)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word link = node - number * memory->word, start = link - memory->word;

	return start < node && leakwrap_leads_to_words(memory, start, number + 1) &&
	       (leakwrap_word_at(memory, start) == in->pointer ||
	        (number > 1 && leakwrap_word_at(memory, link + memory->word) == in->pointer));
}

/* Returns whether the part is behind the links of a list: the address of a neighbour stands in
 * front of it, and its own stands in front of the neighbour, a word nearer or farther. */
LEAKWRAP_INLINE bool is_behind_links(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word, before = in->offset / word;
	const unsigned words = before < LINKS_IN_FRONT ? (unsigned)before : LINKS_IN_FRONT;

	if (!leakwrap_leads_to_words(in->memory, in->pointer - words * word, words))
		return false;
	for (unsigned number = 1; number <= words; number++) {
		const leakwrap_word other =
		        leakwrap_word_at(in->memory, in->pointer - number * word);

		if (other - in->block >= in->size && leads_back_in_front(in, other, number))
			return true;
	}
	return false;
}

/* Returns whether the word NUMBER of the part is the address of code. */
LEAKWRAP_INLINE bool has_function(const struct leakwrap_interior *in, unsigned number)
{
	return in->memory->is_code(in->memory->context, leakwrap_word_of_part(in, number));
}

/* The priorities of watchers in libev: EV_MINPRI and EV_MAXPRI. */
#define PRIORITY_MIN (-2)
#define PRIORITY_MAX 2

/* Returns the number NUMBER of 32 bits of the part. */
LEAKWRAP_INLINE int32_t number_of_part(const struct leakwrap_interior *in, unsigned number)
{
	return (int32_t)in->memory->load(in->memory->context,
	                                 in->pointer + (leakwrap_word)4 * number, 4);
}

/* Returns whether the part, which has WORDS words, is a watcher of libev.  That begins with three
 * numbers: not 0 if it is active, its place among those that are pending or 0, and its priority.
 * Then come a word for the program and the address of a function. */
LEAKWRAP_INLINE bool is_watcher(const struct leakwrap_interior *in, unsigned words)
{
	const unsigned function = in->memory->word == 8 ? 3 : 4;

	return words > function && number_of_part(in, 0) > 0 && number_of_part(in, 1) >= 0 &&
	       number_of_part(in, 2) >= PRIORITY_MIN && number_of_part(in, 2) <= PRIORITY_MAX &&
	       has_function(in, function);
}

LEAKWRAP_INLINE bool is_linked_part(const struct leakwrap_interior *in)
{
	const unsigned words = leakwrap_words_of_part(in, PART_WORDS);

	return is_node(in, words) ||
	       (in->memory->has_system &&
	        (is_watcher(in, words) || is_only_branch(in, words) || is_only_item(in, words) ||
	         is_only_machine(in, words) || is_worked_on(in, words) || is_behind_links(in) ||
	         is_at_bucket(in, words)));
}

#endif
