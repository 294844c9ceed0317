/* other_allocators.c - see other_allocators.h. */
#include "tools/audit/other_allocators.h"

#include <stdlib.h>
#include <string.h>

#include "tools/elf/libraries.h"

/* The largest number of functions of an allocator below. */
#define FUNCTIONS_MAX 9

/* Allocators that take memory from the system, although their library may import malloc.  NAME is
 * the function by which they are found.  FUNCTIONS are as the link names them (leakwrap-cc(1));
 * NULL is behind the last. */
static const struct known_allocator {
	const char *name;
	const char *functions[FUNCTIONS_MAX + 1];
} known_allocators[] = {
        /* Of jemalloc. */
        {"mallocx",
         {"malloc=mallocx(size,flags)", "realloc=rallocx(block,size,flags)",
          "free=dallocx(block,flags)", "free=sdallocx(block,size,flags)"}},
        /* Of DPDK. */
        {"rte_malloc",
         {"malloc=rte_malloc(type,size,place)", "malloc=rte_zmalloc(type,size,place)",
          "calloc=rte_calloc(type,count,size,place)", "realloc=rte_realloc(block,size,place)",
          "malloc=rte_malloc_socket(type,size,place,socket)",
          "malloc=rte_zmalloc_socket(type,size,place,socket)",
          "calloc=rte_calloc_socket(type,count,size,place,socket)",
          "realloc=rte_realloc_socket(block,size,place,socket)", "free=rte_free(block)"}},
        /* Of oneTBB. */
        {"scalable_malloc",
         {"malloc=scalable_malloc", "calloc=scalable_calloc", "realloc=scalable_realloc",
          "free=scalable_free", "posix_memalign=scalable_posix_memalign",
          "malloc=scalable_aligned_malloc(size,alignment)",
          "realloc=scalable_aligned_realloc(block,size,alignment)",
          "free=scalable_aligned_free(block)"}},
};

/* The malloc family, by whose names an allocator with a prefix is found. */
static const char *const family[] = {"malloc",   "calloc",        "realloc",        "reallocarray",
                                     "memalign", "aligned_alloc", "posix_memalign", "valloc",
                                     "pvalloc",  "free",          "free_sized"};

/* An allocator in LIBRARY, whose malloc is NAME. */
struct other_allocator {
	const char *name, *library;
	size_t prefix; /* the length of what stands in front of "malloc" in NAME */
	const struct known_allocator *known; /* NULL: one that has the malloc family */
};

static const char ending[] = "malloc";

/* Returns whether NAME is that of a malloc with a prefix. */
static bool has_ending(const void *context, const char *name)
{
	const size_t length = strlen(name), end = sizeof ending - 1;

	(void)context;
	return length > end && name[0] != '_' && strcmp(name + length - end, ending) == 0;
}

/* Returns whether NAME may be an allocator's malloc.  Fills ALLOCATOR then, but for the library. */
static bool is_malloc(const char *name, struct other_allocator *allocator)
{
	*allocator = (struct other_allocator){.name = name};
	for (size_t i = 0; i < sizeof known_allocators / sizeof *known_allocators; i++)
		if (strcmp(name, known_allocators[i].name) == 0)
			allocator->known = &known_allocators[i];
	if (!has_ending(NULL, name))
		return allocator->known != NULL;
	allocator->prefix = strlen(name) - (sizeof ending - 1);
	return true;
}

/* The audit, while it looks at the functions that CALLER imports, one of LIBRARIES, or NULL for the
 * program itself. */
struct import_check {
	struct audit *audit;
	const struct program *program;
	struct library_list libraries; /* all that the program loads */
	const char *caller;
};

/* Returns whether LIBRARY, which defines the malloc of ALLOCATOR, has the whole allocator: it
 * defines the free, too, and takes its memory from the system, because it imports no malloc.  The
 * tracer sees what it gets from malloc itself.  A library whose malloc with a prefix it imports is
 * looked at by itself. */
static bool has_allocator(const struct import_check *check, const char *library,
                          const struct other_allocator *allocator)
{
	struct arena *arena = &check->audit->arena;
	const char *release =
	        arena_format(arena, "%.*sfree", (int)allocator->prefix, allocator->name);

	return allocator->known || (library_defines(check->program, library, release) &&
	                            !library_allocates(check->program, library, false) &&
	                            !library_any_import(check->program, library, has_ending, NULL));
}

/* Finds the library, other than the caller, that has ALLOCATOR.  Returns false if there is none. */
static bool find_library(const struct import_check *check, struct other_allocator *allocator)
{
	for (size_t i = 0; i < check->libraries.count; i++) {
		const char *library = check->libraries.names[i];
		if (library == check->caller ||
		    !library_defines(check->program, library, allocator->name))
			continue;
		allocator->library = library;
		return has_allocator(check, library, allocator);
	}
	return false;
}

/* Returns LIST with the function ITEM behind it.  LIST may be NULL. */
static const char *append(struct arena *arena, const char *list, const char *item, bool is_exported)
{
	return arena_format(arena, "%s%s%s%s", list ? list : "", list ? "," : "",
	                    is_exported ? "exported:" : "", item);
}

/* Returns the functions of ALLOCATOR, as the link names them.  IS_EXPORTED: for the calls of shared
 * libraries, too. */
static const char *list_functions(const struct program *program,
                                  const struct other_allocator *allocator, bool is_exported,
                                  struct arena *arena)
{
	const char *prefix = arena_copy(arena, allocator->name, allocator->prefix);
	const char *list = NULL;

	if (allocator->known) {
		for (const char *const *item = allocator->known->functions; *item; item++)
			list = append(arena, list, *item, is_exported);
		return list;
	}
	if (!is_exported)
		return prefix;
	for (size_t i = 0; i < sizeof family / sizeof *family; i++) {
		const char *name = arena_format(arena, "%s%s", prefix, family[i]);
		if (library_defines(program, allocator->library, name))
			list = append(arena, list, arena_format(arena, "%s=%s", family[i], name),
			              true);
	}
	return list;
}

/* Returns whether a shared library imports NAME. */
static bool is_called_by_library(const struct import_check *check, const char *name)
{
	for (size_t i = 0; i < check->libraries.count; i++)
		if (library_imports(check->program, check->libraries.names[i], name))
			return true;
	return false;
}

/* Returns whether the caller's calls of NAME come to the tracer, or another finding names them. */
static bool is_seen_or_told(const struct import_check *check, const char *name)
{
	const struct program *program = check->program;

	if (!check->caller)
		return program_wraps(program, name);
	return program_exports(program, name) ||
	       (program_imports(program, name) && !program_wraps(program, name));
}

/* Returns whether ALLOCATOR collects garbage, as the Boehm-Demers-Weiser collector does.  The
 * program frees nothing then: all its blocks would be lost ones. */
static bool is_collector(const struct program *program, const struct other_allocator *allocator)
{
	return library_defines(program, allocator->library, "GC_gcollect");
}

/* Prints a finding if NAME, which the caller imports, allocates unseen.  Returns false, so that the
 * next import comes. */
static bool check_import(const void *context, const char *name)
{
	const struct import_check *check = context;
	struct arena *arena = &check->audit->arena;
	struct other_allocator allocator;

	if (!is_malloc(name, &allocator) || is_seen_or_told(check, name) ||
	    !find_library(check, &allocator))
		return false;
	if (is_collector(check->program, &allocator)) {
		print_finding(
		        check->audit, NOTE,
		        arena_format(arena, "%s of %s collects garbage", name, allocator.library),
		        "its blocks are not in the report, and need not be freed", NULL);
		return false;
	}
	bool is_exported = program_covers_libraries(check->program) &&
	                   (check->caller || is_called_by_library(check, name));
	print_finding(
	        check->audit, ESCAPE,
	        check->caller
	                ? arena_format(arena, "%s of %s, which %s calls, is not exported", name,
	                               allocator.library, check->caller)
	                : arena_format(arena, "%s of %s is not wrapped", name, allocator.library),
	        "the library does not take its blocks from malloc: they are not in the report",
	        advise_allocator(arena,
	                         list_functions(check->program, &allocator, is_exported, arena)));
	return false;
}

void check_other_allocators(struct audit *audit, const struct program *program)
{
	struct import_check check = {.audit = audit, .program = program};

	list_libraries(&check.libraries, program, &audit->arena);
	program_any_import(program, check_import, &check);
	for (size_t i = 0; program_covers_libraries(program) && i < check.libraries.count; i++) {
		check.caller = check.libraries.names[i];
		library_any_import(program, check.caller, check_import, &check);
	}
	free(check.libraries.names);
}
