/* shared_libraries.c - see shared_libraries.h. */
#include "tools/audit/shared_libraries.h"

#include <string.h>

#include "tools/audit/other_allocators.h"
#include "tools/elf/libraries.h"

/* Functions of shared libraries that allocate what their caller later releases.  The name of the
 * library may lack its end. */
static const struct giver {
	const char *name, *library;
} givers[] = {
        {"g_malloc", "libglib-2.0"},
        {"g_strdup", "libglib-2.0"},
        {"g_object_new", "libgobject-2.0"},
        {"xmlStrdup", "libxml2"},
        {"xmlParseMemory", "libxml2"},
        {"xmlReadFile", "libxml2"},
        {"CRYPTO_malloc", "libcrypto"},
        {"CRYPTO_strdup", "libcrypto"},
        {"BN_new", "libcrypto"},
        {"SSL_new", "libssl"},
        {"sqlite3_open", "libsqlite3"},
        {"sqlite3_malloc", "libsqlite3"},
        {"sqlite3_mprintf", "libsqlite3"},
        {"readline", "libreadline"},
        {"curl_easy_init", "libcurl"},
        {"event_base_new", "libevent"},
        {"evbuffer_new", "libevent"},
        {"onig_new", "libonig"},
        {"json_dumps", "libjansson"},
        {"json_loads", "libjansson"},
        {"luaL_newstate", "liblua"},
        {"getaddrinfo", "the C library"},
        {"getifaddrs", "the C library"},
        {"glob", "the C library"},
        {"wordexp", "the C library"},
        {"regcomp", "the C library"},
        {"fopen", "the C library"},
        {"opendir", "the C library"},
        {"setlocale", "the C library"},
        {"fmemopen", "the C library"},
        {"setvbuf", "the C library"},
        {"getpass", "the C library"},
};

/* Finds calls of givers. */
static void check_givers(struct audit *audit, const struct program *program)
{
	const char *libc = NULL, *others = NULL;
	for (size_t i = 0; i < sizeof givers / sizeof *givers; i++) {
		const struct giver *giver = &givers[i];
		if (!program_imports(program, giver->name))
			continue;
		if (strcmp(giver->library, "the C library") == 0)
			libc = libc ? arena_format(&audit->arena, "%s, %s", libc, giver->name)
			            : giver->name;
		else
			others = arena_format(&audit->arena, "%s%s%s of %s", others ? others : "",
			                      others ? ", " : "", giver->name, giver->library);
	}
	if (libc)
		print_finding(
		        audit, NOTE,
		        arena_format(&audit->arena, "the C library allocates inside %s", libc),
		        "what a shared library allocates and frees by itself is not in the report",
		        "-static, to see it");
	if (others)
		print_finding(
		        audit, NOTE,
		        arena_format(&audit->arena, "shared libraries allocate inside %s", others),
		        "their memory is not in the report",
		        "link their archives (lib*.a) in their place");
}

/* Returns true if another finding names the library NAME. */
static bool has_other_finding(const struct program *program, const char *name)
{
	for (size_t i = 0; i < sizeof givers / sizeof *givers; i++)
		if (strncmp(name, givers[i].library, strlen(givers[i].library)) == 0 &&
		    program_imports(program, givers[i].name))
			return true;
	return name == program->cxx_library;
}

/* Finds shared libraries that allocate and have no other finding. */
static void check_allocating_libraries(struct audit *audit, const struct program *program)
{
	const char *names = NULL;
	for (size_t i = 0; i < program->library_count; i++) {
		const char *name = program->libraries[i];
		if (has_other_finding(program, name) || !library_allocates(program, name, false))
			continue;
		names = names ? arena_format(&audit->arena, "%s, %s", names, name) : name;
	}
	if (names)
		print_finding(audit, NOTE,
		              arena_format(&audit->arena,
		                           "shared libraries allocate by themselves: %s", names),
		              "their memory is not in the report",
		              "link their archives (lib*.a) in their place");
}

/* Finds shared libraries whose calls will pass the tracer by, although the program exports malloc.
 * A tracer in a library names __libc_malloc, and does not call it. */
static void check_bypasses(struct audit *audit, const struct program *program)
{
	const char *names = NULL;
	for (size_t i = 0; i < program->library_count; i++) {
		const char *name = program->libraries[i];
		if (library_allocates(program, name, true) && !library_is_traced(program, name))
			names = names ? arena_format(&audit->arena, "%s, %s", names, name) : name;
	}
	if (names)
		print_finding(
		        audit, NOTE,
		        arena_format(&audit->arena, "%s: calls of __libc_malloc by name", names),
		        "these blocks are not in the report", NULL);
}

void check_libraries(struct audit *audit, const struct program *program)
{
	if (program->has_symbols)
		check_other_allocators(audit, program);
	if (program_covers_libraries(program)) {
		check_bypasses(audit, program);
		return;
	}
	if (program_hides_malloc(program))
		print_finding(
		        audit, NOTE, "the link hides the tracer's malloc from shared libraries",
		        "what they allocate and free is not in the report",
		        "leave out -Wl,--exclude-libs; take -Wl,--dynamic-list in the place of "
		        "-Wl,--version-script");
	check_givers(audit, program);
	check_allocating_libraries(audit, program);
	if (program->cxx_library)
		print_finding(audit, NOTE,
		              arena_format(&audit->arena, "%s is shared", program->cxx_library),
		              "it grows and frees the buffers of std::string and of streams by "
		              "itself: blocks of theirs are missing, or stay listed",
		              "-static-libstdc++");
}
