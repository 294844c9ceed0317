/* lua_server.c - the demo's first program: a small server whose logic is a Lua script.
 *
 * It is linked with Debian's prebuilt liblua5.4.a. It serves one request for each line of standard
 * input and ends at the end of the input. Three leaks are planted:
 *
 *   greet_client   keeps a record of 1,024 bytes for each client and never frees it;
 *   read_config    reads the settings with a Lua state of its own and forgets to close it: the
 *                  library holds its memory for ever;
 *   serve          puts a reference to each session into Lua's registry and never removes it: the
 *                  library's memory grows while the server runs; lua_close frees it at the end.
 *
 * After each request it prints how many bytes Lua believes to hold. A dump must say the same. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum { RECORD_SIZE = 1024 };

struct client {
	struct client *next;
	char name[RECORD_SIZE - sizeof(struct client *)];
};

static struct client *clients;
static char greeting[32];

static NOINLINE void greet_client(const char *name)
{
	struct client *client = malloc(sizeof(*client));

	if (client) {
		snprintf(client->name, sizeof(client->name), "%s", name);
		client->next = clients;
		clients = client;
	}
}

/* Returns the script's memory counter: the bytes that Lua has asked its allocator for. */
static long held_by(lua_State *lua)
{
	return lua_gc(lua, LUA_GCCOUNT) * 1024L + lua_gc(lua, LUA_GCCOUNTB);
}

static NOINLINE void read_config(void)
{
	lua_State *lua = luaL_newstate();

	if (!lua || luaL_dostring(lua, "greeting = 'hello'"))
		exit(1);
	lua_getglobal(lua, "greeting");
	snprintf(greeting, sizeof(greeting), "%s", lua_tostring(lua, -1));
	lua_pop(lua, 1);
	printf("configured, config holds %ld bytes\n", held_by(lua));
}

/* Allocates and frees, as it should. No dump may list it. */
static NOINLINE void send_reply(const char *text)
{
	char *reply = malloc(1000);

	if (reply) {
		snprintf(reply, 1000, "%s", text);
		printf("%s", reply);
	}
	free(reply);
}

static NOINLINE void serve(lua_State *lua, const char *name)
{
	greet_client(name);
	lua_getglobal(lua, "handle");
	lua_pushstring(lua, name);
	lua_pushstring(lua, greeting);
	if (lua_pcall(lua, 2, 2, 0)) {
		fprintf(stderr, "%s\n", lua_tostring(lua, -1));
		exit(1);
	}
	send_reply(lua_tostring(lua, -2));
	luaL_ref(lua, LUA_REGISTRYINDEX); /* the session */
	lua_pop(lua, 1);
	printf(", lua holds %ld bytes\n", held_by(lua));
}

int main(int argc, char **argv)
{
	lua_State *lua;
	char line[64];

	if (argc != 2) {
		fprintf(stderr, "usage: %s SCRIPT\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	read_config();
	lua = luaL_newstate();
	if (!lua)
		return 1;
	luaL_openlibs(lua);
	if (luaL_dofile(lua, argv[1])) {
		fprintf(stderr, "%s\n", lua_tostring(lua, -1));
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		serve(lua, line);
	}
	lua_close(lua);
	return 0;
}
