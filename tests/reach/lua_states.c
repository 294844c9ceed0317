/* lua_states.c - states of Lua, which programs and Lua itself hold by pointers behind the first
 * word of their blocks: one by its main state, one by a coroutine alone, and one that is lost. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

static lua_State *volatile held_main, *volatile held_coroutine;

static NOINLINE lua_State *make_state(void)
{
	lua_State *const state = luaL_newstate();

	if (!state)
		exit(2);
	luaL_openlibs(state);
	if (luaL_dostring(state, "kept = {}\n"
	                         "for i = 1, 5 do\n"
	                         "  kept[i] = coroutine.wrap(function() coroutine.yield(i) end)\n"
	                         "  kept[i]()\n"
	                         "end"))
		exit(2);
	return state;
}

static NOINLINE void make_states(void)
{
#ifdef LOSE
	make_state();
#endif
	held_main = make_state();
	held_coroutine = lua_newthread(make_state());
}

int main(void)
{
	make_states();
	clear_stack();
	/* A core file is made at the exit. */
	exit(raise(SIGUSR1));
}
