/* lua_trees.c SCRIPT - runs a Lua script, and nothing else: a whole program whose allocations are a prebuilt
 * archive's. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	lua_State *lua = luaL_newstate();

	if (!lua || argc != 2)
		return 2;
	luaL_openlibs(lua);
	if (luaL_dofile(lua, argv[1])) {
		fprintf(stderr, "%s\n", lua_tostring(lua, -1));
		return 1;
	}
	lua_close(lua);
	return 0;
}
