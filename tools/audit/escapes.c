/* escapes.c - see escapes.h.
 *
 * The linker's --wrap redirects undefined references by name.  A call that it cannot redirect, or
 * was not asked to redirect, goes straight to the allocator.
 */
#include "tools/audit/escapes.h"

#include <string.h>

#include "tools/elf/direct_calls.h"
#include "tools/elf/own_allocators.h"
#include "tools/elf/traced.h"

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

/* Prints the finding about ALLOCATOR.  One that is certain is an escape.  Other functions only have
 * such names: a note. */
static void print_allocator(struct audit *audit, const struct own_allocator *allocator)
{
	bool escapes = is_own_allocator(allocator);
	const char *functions =
	        allocator->family
	                ? allocator->family
	                : arena_format(&audit->arena, "malloc=%s(PARAMETERS),free=%s(PARAMETERS)",
	                               allocator->allocate, allocator->release);
	print_finding(
	        audit, escapes ? ESCAPE : NOTE,
	        arena_format(&audit->arena, "%s and %s %s", allocator->allocate, allocator->release,
	                     escapes ? "are an allocator that is not wrapped"
	                             : "look like an allocator"),
	        why_blocks_are_missing(allocator), advise_allocator(&audit->arena, functions));
}

/* Allocators of other names that are listed. */
enum { ALLOCATORS_MAX = 16 };

/* Finds allocators of other names.  A garbage collector's is a note. */
static void check_own_allocators(struct audit *audit, struct program *program)
{
	struct own_allocator all[ALLOCATORS_MAX + 1];
	size_t count = find_own_allocators(program, all, ALLOCATORS_MAX + 1, &audit->arena);
	for (size_t i = 0; i < count && i < ALLOCATORS_MAX; i++) {
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
	if (count > ALLOCATORS_MAX)
		print_finding(audit, NOTE,
		              arena_format(&audit->arena,
		                           "more than %d functions look like an allocator",
		                           ALLOCATORS_MAX),
		              "the others are not listed", NULL);
}

void check_escapes(struct audit *audit, struct program *program)
{
	find_direct_calls(program);
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
