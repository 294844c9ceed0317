/* lua_rules.h - the pointers into a block by which Lua and its programs hold a state: the main
 * state, which lua_newstate returns, and a coroutine's.  In front of each state are bytes for the
 * program (LUA_EXTRASPACE), by default a word.  In the block of the main state is the global state,
 * to which all states lead.  It is behind the main state, and in Lua 5.5 in front of it.
 *
 * And the pointers of a table of Lua 5.5 to its two parts.
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_LUA_RULES_H
#define LEAKWRAP_LUA_RULES_H

#include "wrap/rules/interior_pointer.h"

/* The words that may be in front of a state. */
#define EXTRA_WORDS 8u

/* The words of a state that the rule reads, of which the last is the address of the global state:
 * behind the next object, the types and counts, and the top of the stack.  The types and counts
 * take 8 bytes. */
#define STATE_WORDS 5u

/* The first words of a global state, of which one is the address of the main state. */
#define GLOBAL_WORDS 48u

/* The main state is right in front of the global state.  It has at most this many words. */
#define MAIN_WORDS 64u

/* Returns the address of the global state of the state at STATE. */
LEAKWRAP_INLINE leakwrap_word global_state_of(const struct leakwrap_memory *memory,
                                              leakwrap_word state)
{
	return leakwrap_word_at(memory, state + 8 + 2 * memory->word);
}

/* In Lua 5.5 the main state is at the end of the global state, and has the address of the global
 * state.  That address is among the global state's first words, of which there are this many. */
#define GLOBAL_WORDS_5_5 320u

/* The type of a state, in a byte behind the next object (lua.h, LUA_TTHREAD). */
#define STATE_TYPE 8u

/* Returns whether the object at OBJECT, which can be read, has the type of a state. */
LEAKWRAP_INLINE bool has_state_type(const struct leakwrap_memory *memory, leakwrap_word object)
{
	return memory->load(memory->context, object + memory->word, 1) == STATE_TYPE;
}

/* Returns whether GLOBAL is the address of a global state of Lua 5.5: it holds a state that has
 * that address (lstate.h, global_State and LX). */
LEAKWRAP_INLINE bool is_global_state_5_5(const struct leakwrap_memory *memory, leakwrap_word global)
{
	const unsigned group = 16;
	const leakwrap_word word = memory->word;

	for (unsigned i = 0; i < GLOBAL_WORDS_5_5; i++) {
		const leakwrap_word at = global + i * word;

		if (i % group == 0 && !leakwrap_leads_to_words(memory, at, group))
			return false;
		if (i > 2 && leakwrap_word_at(memory, at) == global)
			return has_state_type(memory, at - 2 * word - 8);
	}
	return false;
}

/* Returns whether GLOBAL is the address of a global state: it has the address of the main state,
 * which has that of the global state (Lua 5.3 and 5.4, lstate.h, struct lua_State and global_State;
 * lstate.c, struct LX and LG). */
LEAKWRAP_INLINE bool is_global_state(const struct leakwrap_memory *memory, leakwrap_word global)
{
	if (!leakwrap_leads_to_words(memory, global, GLOBAL_WORDS))
		return false;
	for (unsigned i = 0; i < GLOBAL_WORDS; i++) {
		const leakwrap_word main = leakwrap_word_at(memory, global + i * memory->word);

		if (global - main - 1 < MAIN_WORDS * memory->word &&
		    leakwrap_leads_to_words(memory, main, STATE_WORDS) &&
		    global_state_of(memory, main) == global)
			return true;
	}
	return false;
}

/* Returns whether the part is a state of Lua, or the global state behind the main state. */
LEAKWRAP_INLINE bool is_of_lua(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;

	if (in->offset > (EXTRA_WORDS + MAIN_WORDS) * memory->word ||
	    leakwrap_words_of_part(in, STATE_WORDS) < STATE_WORDS)
		return false;
	if (in->offset <= EXTRA_WORDS * memory->word) {
		const leakwrap_word global = global_state_of(memory, in->pointer);

		if (is_global_state(memory, global) ||
		    (has_state_type(memory, in->pointer) && is_global_state_5_5(memory, global)))
			return true;
	}
	return is_global_state(memory, in->pointer);
}

/* A table of Lua 5.5 has, one behind the other: a byte with the logarithm of the number of nodes,
 * in 32 bits the number of elements, and the addresses of elements and nodes (lobject.h, struct
 * Table). */
#define TABLE_VALUE_BYTES 8u
#define TABLE_NODE_BYTES  24u

/* In front of eight and more nodes is the address behind the nodes that may be free, with what
 * aligns the nodes (ltable.c, Limbox and setnodevector). */
#define LIMBOX_NODES_LOG 3u
#define TABLE_NODES_LOG  26u

/* Returns whether the pointer of a table leads to its nodes, which take the rest of the block. */
LEAKWRAP_INLINE bool are_table_nodes(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word before = memory->word + 5, rest = in->size - in->offset;
	leakwrap_word free_end;
	uint64_t log;

	if ((in->offset != memory->word && in->offset != 8) || in->place < before ||
	    rest % TABLE_NODE_BYTES != 0 ||
	    !memory->is_readable(memory->context, in->place - before, before))
		return false;
	log = memory->load(memory->context, in->place - before, 1);
	free_end = leakwrap_word_of(in, 0) - in->pointer;
	return log >= LIMBOX_NODES_LOG && log <= TABLE_NODES_LOG &&
	       rest == (leakwrap_word)TABLE_NODE_BYTES << log && free_end <= rest &&
	       free_end % TABLE_NODE_BYTES == 0;
}

/* Returns whether the pointer of a table leads to its elements.  Their values are in front of the
 * address.  Behind the address are 32 bits, and a byte for the type of each element (ltable.h). */
LEAKWRAP_INLINE bool are_table_elements(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word elements = in->offset / TABLE_VALUE_BYTES;

	return in->offset % TABLE_VALUE_BYTES == 0 && in->size - in->offset == elements + 4 &&
	       in->place >= 4 && memory->is_readable(memory->context, in->place - 4, 4) &&
	       memory->load(memory->context, in->place - 4, 4) == elements;
}

/* Returns whether the pointer leads to a part of a table of Lua 5.5. */
LEAKWRAP_INLINE bool is_part_of_lua_table(const struct leakwrap_interior *in)
{
	return are_table_nodes(in) || are_table_elements(in);
}

#endif
