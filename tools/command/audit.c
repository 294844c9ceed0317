/* audit.c - the command audit: finds the allocations of a linked program that its reports will
 * lack.
 *
 * The linker's --wrap redirects undefined references by name.  A call that it cannot redirect, or
 * was not asked to redirect, goes straight to the allocator.  The audit reads the file and runs
 * nothing.
 */
#include <argp.h>
#include <string.h>

#include "tools/command/commands.h"
#include "tools/elf/libraries.h"
#include "tools/elf/own_allocators.h"
#include "tools/elf/program.h"
#include "tools/elf/unwind_tables.h"

/* -- findings ---------------------------------------------------------------------------------- */

enum severity {
	ESCAPE,  /* allocations are missing from the report */
	QUALITY, /* the report says less than it could */
	NOTE,    /* no mistake, but good to know */
};

struct audit {
	struct arena arena; /* for the text of findings */
	size_t findings[3]; /* how many, by severity */
};

/* Prints and counts a finding.  WHAT was found; what it MEANS for the report; how to MEND it, or
 * NULL. */
static void print_finding(struct audit *audit, enum severity severity, const char *what,
                          const char *means, const char *mend)
{
	static const char *const names[] = {"escape", "quality", "note"};
	audit->findings[severity]++;
	printf("%s: %s\n        %s\n", names[severity], what, means);
	if (mend)
		printf("        mend: %s\n", mend);
}

/* -- checks ------------------------------------------------------------------------------------ */

/* Finds wrappers that are referred to and not there.  They come from ld.lld and weak functions (see
 * LEAKWRAP_LLD_LDFLAGS in linker-flags.mk), and from functions to which the program refers only
 * weakly. */
static void check_void_wrappers(struct audit *audit, const struct program *program)
{
	struct arena *arena = &audit->arena;
	const char *names = NULL, *flags = "";
	for (size_t i = 0; i < program->void_count; i++) {
		const char *name = program->void_wrappers[i];
		/* Sanitizers call this one if there is a C++ library. */
		if (strcmp(name, "__cxa_demangle") == 0 && !program->cxx_library)
			continue;
		names = names ? arena_format(arena, "%s, %s", names, name) : name;
		flags = arena_format(arena, "%s-Wl,-u,__wrap_%s ", flags, name);
	}
	if (names)
		print_finding(audit, ESCAPE,
		              arena_format(arena, "the wrappers of %s are missing", names),
		              "the linker took these for weak and did not look for them: to the "
		              "program they are not there, and a call jumps to address 0",
		              flags);
}

/* Finds an allocator that the program defines itself. */
static void check_own_malloc(struct audit *audit, const struct program *program)
{
	const struct entry *entry = program_entry(program, "malloc");

	if (entry && entry->address && !entry_is_exported(entry) &&
	    program_has_code_at(program, entry->address))
		print_finding(audit, NOTE, "malloc is the program's own",
		              "calls that the compiler has inlined, in the source file that "
		              "defines it, are not in the report",
		              NULL);
}

/* Returns true if the function NAME releases blocks: free and its relatives, operator delete. */
static bool is_release(const char *name)
{
	return strstr(name, "free") != NULL || strncmp(name, "_Zdl", 4) == 0 ||
	       strncmp(name, "_Zda", 4) == 0;
}

/* Returns true if the tracer sees the calls that the function of ENTRY makes itself.  A function of
 * the program calls a wrapper then, and a function of a shared library calls the program's exported
 * malloc. */
static bool is_seen_below(const struct program *program, const struct entry *entry)
{
	if (entry->address)
		return calls_tracer(program, entry);
	return entry->imported && program_covers_libraries(program) && !entry->alias &&
	       (!entry->heap || strncmp(entry->name, "_Z", 2) == 0);
}

/* Finds calls of allocating functions that go past the wrappers. */
static void check_entries(struct audit *audit, const struct program *program)
{
	for (size_t i = 0; i < program->entry_count; i++) {
		const struct entry *entry = &program->entries[i];
		const char *name = entry->name;
		const struct callers *callers =
		        entry->direct.calls ? &entry->direct : &entry->behind;
		if (!callers->calls || entry_is_exported(entry))
			continue;
		const char *what = arena_format(&audit->arena, "%zu direct call%s of %s, in %s",
		                                callers->calls, callers->calls == 1 ? "" : "s",
		                                name, callers->names);
		if (is_seen_below(program, entry))
			print_finding(
			        audit, NOTE, what,
			        "they were not redirected to the wrapper, but the tracer sees "
			        "the calls of malloc and free in that function",
			        NULL);
		else if (entry->alias)
			print_finding(audit, ESCAPE, what,
			              "a second name of an allocator, for which there is no "
			              "wrapper: these blocks are not in the report",
			              "call it by its public name");
		else if (entry->named)
			print_finding(audit, ESCAPE, what,
			              "they were not redirected to the wrapper: the linker wraps "
			              "no calls inside the file that defines the function",
			              "define it in another source file than its callers");
		else if (!entry->wrapper)
			print_finding(audit, ESCAPE, what,
			              is_release(name)
			                      ? "it has no wrapper here: blocks that are freed "
			                        "there stay in the report"
			                      : "it has no wrapper here: these blocks are not in "
			                        "the report, and freeing them counts as foreign",
			              arena_format(&audit->arena, "-Wl,--wrap=%s", name));
		else
			print_finding(audit, ESCAPE, what,
			              "they were not redirected to the wrapper: a reference that "
			              "was resolved before the link (ld -r, link-time "
			              "optimization, --defsym, the file that defines it)",
			              "link the objects themselves; for -flto objects use -fno-lto "
			              "on the link line, or a linker that wraps in them");
	}
}

static bool is_way_out(const char *name)
{
	return strcmp(name, "_exit") == 0 || strcmp(name, "_Exit") == 0 ||
	       strcmp(name, "quick_exit") == 0;
}

/* Returns true if the reports lack something because the program has its own wrapper of FUNCTION,
 * which may allocate or release.  A call of the allocator below it is seen if the tracer has
 * wrappers there, and in the program's exported malloc. */
static bool own_wrapper_hides(const struct program *program, const char *function)
{
	const struct entry *entry = program_entry(program, function);

	if (!entry || program_covers_libraries(program))
		return false;
	return program->shared_libc || (entry->heap && strncmp(function, "_Z", 2) != 0);
}

/* Finds wrappers that the program brings itself. */
static void check_own_wrappers(struct audit *audit, const struct program *program)
{
	for (size_t i = 0; i < program->wrapper_count; i++) {
		const char *name = program->wrappers[i].function;
		if (!is_own_wrapper(program, &program->wrappers[i]))
			continue;
		const char *what = arena_format(
		        &audit->arena, "__wrap_%s is the program's own, not the tracer's", name);
		if (own_wrapper_hides(program, name))
			print_finding(audit, ESCAPE, what,
			              is_release(name)
			                      ? "blocks that are freed there stay in the report, "
			                        "and count as lost"
			                      : "these blocks are not in the report, and freeing "
			                        "them counts as foreign",
			              "leave that wrapper out, or link without -static, "
			              "--program-only and mold");
		else if (is_way_out(name))
			print_finding(audit, NOTE, what,
			              "there is no exit dump where the program ends by it",
			              "kill -USR1 PID, or leakwrap dump PID, before it ends");
		else if (!program_entry(program, name))
			print_finding(audit, NOTE, what, "the tracer does not know of these calls",
			              NULL);
	}
}

/* Finds functions that --allocator names and the program lacks.  Either the name is wrong, or the
 * object that has the function is not linked. */
static void check_named_allocators(struct audit *audit, const struct program *program)
{
	for (size_t i = 0; i < program->entry_count; i++) {
		const struct entry *entry = &program->entries[i];
		if (entry->expected && !entry->address && !entry->imported)
			print_finding(audit, ESCAPE,
			              arena_format(&audit->arena, "the program has no function %s",
			                           entry->name),
			              "--allocator or LEAKWRAP_ALLOCATORS names it: nothing of "
			              "this name is in the report",
			              "name the allocator as the program calls it");
	}
}

/* Finds functions of the program that have the name of a function of the C library.  In a static
 * program the two cannot be told apart. */
static void check_namesakes(struct audit *audit, const struct program *program)
{
	for (size_t i = 0; program->shared_libc && i < program->entry_count; i++) {
		const struct entry *entry = &program->entries[i];
		if (entry->heap || !entry->address || !entry->wrapper || is_c_librarys(entry->name))
			continue;
		print_finding(audit, NOTE,
		              arena_format(&audit->arena, "%s is the program's own", entry->name),
		              "its wrapper takes it for the C library's: with other parameters its "
		              "calls go wrong",
		              arena_format(&audit->arena, "leave -Wl,--wrap=%s out", entry->name));
	}
}

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

/* Finds allocations inside shared libraries. */
static void check_libraries(struct audit *audit, const struct program *program)
{
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

/* Every program has a few functions in assembly, without unwind tables.  It is a finding if more
 * than one function in UNTABLED_SHARE has none. */
enum { UNTABLED_SHARE = 10 };

static void check_tables(struct audit *audit, const struct program *program)
{
	struct untabled untabled;

	if (!calls_are_known(program->machine)) {
		print_finding(audit, QUALITY, "stacks of this machine are not walked",
		              "a call site is the caller of the allocating function alone",
		              "-finstrument-functions and LEAKWRAP_OPTIONS=unwind=instrument");
		return;
	}
	untabled_find(&untabled, program, &audit->arena);
	if (!untabled.main && untabled.count <= untabled.functions / UNTABLED_SHARE)
		return;
	print_finding(audit, NOTE,
	              arena_format(&audit->arena,
	                           "%s of %s functions have no unwind tables: %s%s%s",
	                           with_commas(untabled.count), with_commas(untabled.functions),
	                           !untabled.main   ? ""
	                           : untabled.names ? "main, "
	                                            : "main",
	                           untabled.names ? untabled.names : "",
	                           untabled.count > 4 ? ", ..." : ""),
	              "the walk reads their code instead: stacks are complete where the code is "
	              "clear, guessed where it is not",
	              "-funwind-tables, where you compile them yourself");
}

/* Finds what makes reports say less than they could. */
static void check_quality(struct audit *audit, const struct program *program)
{
	bool arm = program->machine == EM_ARM;

	if (program->has_eh_frame && !program->has_eh_frame_hdr && !arm)
		print_finding(
		        audit, QUALITY, "there is no .eh_frame_hdr",
		        "the walk cannot find the unwind tables: stacks will be short or guessed",
		        "-Wl,--eh-frame-hdr");
	if (!program->has_symbols)
		print_finding(audit, QUALITY, "the symbol table is stripped",
		              "the dump names no functions, and this audit cannot tell which "
		              "calls escape",
		              "do not strip; or audit the unstripped file, and keep it for "
		              "leakwrap report --exe");
	if (program->has_symbols)
		check_tables(audit, program);
	if (!program->has_build_id)
		print_finding(audit, NOTE, "there is no build-id",
		              "a report cannot verify that it reads the symbols of this very build",
		              "-Wl,--build-id");
}

/* Prints the finding about ALLOCATOR.  Functions with the names of malloc's family (PREFIXmalloc,
 * PREFIXfree) that take memory from the system are an allocator: an escape.  Other functions only
 * have such names: a note. */
static void print_allocator(struct audit *audit, const struct own_allocator *allocator)
{
	bool escapes = allocator->family && allocator->from_system;
	print_finding(
	        audit, escapes ? ESCAPE : NOTE,
	        arena_format(&audit->arena, "%s and %s %s", allocator->allocate, allocator->release,
	                     escapes ? "are an allocator that is not wrapped"
	                             : "look like an allocator"),
	        allocator->from_system ? "it takes memory by mmap or sbrk: its blocks are not "
	                                 "in the report"
	                               : "no call of malloc is seen in it: if it hands out "
	                                 "memory of its own, its blocks are not in the report",
	        allocator->family
	                ? arena_format(&audit->arena,
	                               "leakwrap cc --allocator=%s; in make "
	                               "LEAKWRAP_ALLOCATORS := %s",
	                               allocator->family, allocator->family)
	                : arena_format(&audit->arena,
	                               "leakwrap cc "
	                               "--allocator='malloc=%s(PARAMETERS),free=%s(PARAMETERS)'",
	                               allocator->allocate, allocator->release));
}

/* Finds allocators of other names.  A garbage collector's is a note. */
static void check_own_allocators(struct audit *audit, struct program *program)
{
	struct own_allocator all[16];
	size_t count = find_own_allocators(program, all, sizeof all / sizeof *all, &audit->arena);
	for (size_t i = 0; i < count; i++) {
		if (all[i].collects)
			print_finding(audit, NOTE,
			              arena_format(&audit->arena, "%s is a garbage collector's",
			                           all[i].allocate),
			              arena_format(&audit->arena,
			                           "its blocks are not in the report: it releases "
			                           "them without a call of %s, so calls do not say "
			                           "which of them are live",
			                           all[i].release),
			              NULL);
		else
			print_allocator(audit, &all[i]);
	}
}

/* Finds what goes past the wrappers.  Needs symbols. */
static void check_calls(struct audit *audit, struct program *program)
{
	program_find_calls(program);
	if (!calls_are_known(program->machine))
		print_finding(audit, NOTE,
		              "the code of this machine is not searched for direct calls",
		              "only missing wrappers are found", NULL);
	check_void_wrappers(audit, program);
	check_entries(audit, program);
	check_own_wrappers(audit, program);
	check_own_malloc(audit, program);
	check_named_allocators(audit, program);
	check_namesakes(audit, program);
	check_own_allocators(audit, program);
}

/* Returns the first shared library of PROGRAM that has the tracer, or NULL. */
static const char *traced_library(const struct program *program)
{
	for (size_t i = 0; i < program->library_count; i++)
		if (library_is_traced(program, program->libraries[i]))
			return program->libraries[i];
	return NULL;
}

static void check_program(struct audit *audit, struct program *program)
{
	const char *library = traced_library(program);

	if (!program->traced && library) {
		print_finding(audit, ESCAPE,
		              arena_format(&audit->arena,
		                           "the tracer is in %s, not in this program", library),
		              "the program's own blocks may be missing",
		              "relink the program alone, by leakwrap cc in the place of LIBS, "
		              "LDFLAGS or the like of a whole project");
		return;
	}
	if (library) {
		const bool covers = program_covers_libraries(program);

		print_finding(audit, covers ? NOTE : QUALITY,
		              arena_format(&audit->arena, "the tracer is in %s, too", library),
		              covers ? "it leaves everything to the program's"
		                     : "two tracers share the calls, and each writes its own dumps",
		              "link it into the program alone, by leakwrap cc in the place of "
		              "LIBS, LDFLAGS or the like of a whole project");
	}
	if (!program->traced) {
		print_finding(audit, ESCAPE,
		              "nothing is wrapped: the tracer is not in this program",
		              "it will never write a dump",
		              "relink with the flags of linker-flags.mk, or by leakwrap cc");
		return;
	}
	if (program->has_symbols)
		check_calls(audit, program);
	check_quality(audit, program);
	check_libraries(audit, program);
}

/* -- the command ------------------------------------------------------------------------------- */

static enum status audit_file(const char *path, bool strict)
{
	struct audit audit = {0};
	struct program program;

	if (!program_open(&program, path))
		return STATUS_USAGE;
	check_program(&audit, &program);

	size_t escapes = audit.findings[ESCAPE], bad = escapes + audit.findings[QUALITY];
	if (program.traced && program_tells_coverage(&program) && program.shared_libc)
		puts(program_covers_libraries(&program)
		             ? "coverage: the whole process, libraries included"
		             : "coverage: the program's own calls, not those of shared libraries");
	printf("%s: ", path);
	if (program.traced && !program.has_symbols)
		fputs("escapes not searched for", stdout);
	else
		printf("%zu escape%s", escapes, escapes == 1 ? "" : "s");
	printf(", %zu of quality, %zu note%s\n", audit.findings[QUALITY], audit.findings[NOTE],
	       audit.findings[NOTE] == 1 ? "" : "s");
	program_close(&program);
	arena_free(&audit.arena);
	return strict && bad ? STATUS_LEAKS : STATUS_FINE;
}

struct audit_options {
	const char *path;
	bool strict;
};

static error_t parse_audit(int key, char *argument, struct argp_state *state)
{
	struct audit_options *options = state->input;
	switch (key) {
	case 's':
		options->strict = true;
		break;
	case ARGP_KEY_ARG:
		if (options->path)
			argp_usage(state);
		options->path = argument;
		break;
	case ARGP_KEY_END:
		if (!options->path)
			argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int command_audit(int argc, char **argv)
{
	static const struct argp_option table[] = {
	        {"strict", 's', 0, 0,
	         "Exit with status 1 when there is an escape or a finding of quality", 0},
	        {0},
	};
	static const struct argp argp = {
	        .options = table,
	        .parser = parse_audit,
	        .args_doc = "EXE",
	        .doc = "Finds the allocations of a relinked program that will not be in its "
	               "reports."
	               "\vEach finding says what was found, what it means for the report, and the "
	               "flag that mends it.  An escape hides allocations, a finding of quality "
	               "makes the report say less, a note is good to know.",
	};
	struct audit_options options = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	return (int)audit_file(options.path, options.strict);
}
