/* lua.c - a Lua state that runs a script in a protected call: tables, closures, strings, patterns,
 * coroutines, an error that the script catches. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const char script[] =
        "local t = {} for i = 1, 100 do t[i] = {name = 'n' .. i, f = function() return i end} end\n"
        "table.sort(t, function(a, b) return a.name < b.name end)\n"
        "local s = '' for i, v in ipairs(t) do s = s .. v.name:gsub('n', 'm'):upper() end\n"
        "local c = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end)\n"
        "for i = 1, 5 do assert(c() == i) end\n"
        "setmetatable(t, {__index = function(_, k) return k end, __gc = function() end})\n"
        "local ok, message = pcall(error, {code = 5})\n"
        "assert(not ok and message.code == 5 and #s > 200 and t.none == 'none')\n"
        "return string.format('%d %s', #t, table.concat({1, 2, 3}, ','))\n";

static int run(lua_State *state)
{
	luaL_openlibs(state);
	if (luaL_loadstring(state, script) != LUA_OK)
		return lua_error(state);
	lua_call(state, 0, 1);
	return 0;
}

int main(void)
{
	lua_State *state = luaL_newstate();
	int failed;

	if (!state)
		return 1;
	lua_pushcfunction(state, run);
	failed = lua_pcall(state, 0, 0, 0) != LUA_OK;
	lua_close(state);
	return failed;
}
