/* lua_rules.h - the pointers into a block by which Lua and its programs hold a state: the main
 * state, which lua_newstate returns, and a coroutine's.  In front of each state are bytes for the
 * program (LUA_EXTRASPACE), by default a word.  Behind the main state, in the same block, is the
 * global state, to which all states lead.
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_LUA_RULES_H
#define LEAKWRAP_LUA_RULES_H

#include "wrap/reach/interior_pointer.h"

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
	return (in->offset <= EXTRA_WORDS * memory->word &&
	        is_global_state(memory, global_state_of(memory, in->pointer))) ||
	       is_global_state(memory, in->pointer);
}

#endif
