/* lua_trees.c - binary trees in Lua: a garbage collector works on many small tables that live and
 * die together, in a prebuilt archive. */
#include "workload.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const char script[] =
        "local rounds, keep = ...\n"
        "local function grow(depth)\n"
        "	if depth == 0 then return {} end\n"
        "	return { grow(depth - 1), grow(depth - 1) }\n"
        "end\n"
        "local function count(tree)\n"
        "	return tree[1] and 1 + count(tree[1]) + count(tree[2]) or 1\n"
        "end\n"
        "kept = grow(15)\n" /* one set stays, the others live and die together */
        "local nodes = 0\n"
        "if keep then return end\n"
        "for depth = 4, 15, 2 do\n"
        "	for _ = 1, rounds >> depth do\n"
        "		nodes = nodes + count(grow(depth))\n"
        "	end\n"
        "end\n"
        "print(nodes, count(kept))\n";

int main(int argc, char **argv)
{
	struct workload workload = workload_of(argc, argv);
	lua_State *lua = luaL_newstate();

	workload_check(lua, "luaL_newstate");
	luaL_openlibs(lua);
	workload_check(luaL_loadstring(lua, script) == LUA_OK, "luaL_loadstring");
	lua_pushinteger(lua, workload_part(&workload, 1u << 18));
	lua_pushboolean(lua, workload.keep);
	workload_check(lua_pcall(lua, 2, 0, 0) == LUA_OK, "lua_pcall");
	if (!workload.keep)
		lua_close(lua);
	return 0;
}
