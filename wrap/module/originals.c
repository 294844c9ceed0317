/* originals.c - see originals.h. */
#include "wrap/module/originals.h"

#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/loader_list.h"
#include "wrap/port/port.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The functions of struct leakwrap_originals. */
#define ALLOCATOR(X) \
	X(malloc)    \
	X(free)      \
	X(calloc) X(realloc) X(memalign) X(aligned_alloc) X(posix_memalign) X(valloc) X(pvalloc)
#define FUNCTIONS(X) ALLOCATOR(X) X(_exit) X(_Exit)

/* For each NAME:
 *
 *   leakwrap_exported_NAME  our function under the name NAME; missing without the process variants
 *   __real_NAME             what NAME stands for in this program; missing without --wrap=NAME
 *
 * They differ if the program brings its own NAME.  Only the addresses are used. */
#define DECLARE(name)                                                     \
	extern void leakwrap_exported_##name(void) __attribute__((weak)); \
	extern void __real_##name(void) __attribute__((weak));
FUNCTIONS(DECLARE)

/* Other tracers in the process read it (LEAKWRAP_NOTE_SECTION in announcement.h). */
extern void (*const leakwrap_malloc_for_libraries)(void) LEAKWRAP_HIDDEN;
void (*const leakwrap_malloc_for_libraries)(void) = leakwrap_exported_malloc;

struct leakwrap_originals leakwrap_originals;
bool leakwrap_stands_aside;
bool leakwrap_libraries_are_recorded;

typedef void function(void);

enum {
#define INDEX(name) INDEX_##name,
	FUNCTIONS(INDEX) FUNCTION_COUNT,
	ALLOCATOR_COUNT = INDEX__exit
};

/* The prefix keeps leakwrap audit from counting these pointers as the program's. */
static const struct {
	const char *name;
	function *exported, *real;
} leakwrap_functions[FUNCTION_COUNT] = {
#define ROW(name) {#name, leakwrap_exported_##name, __real_##name},
        FUNCTIONS(ROW)};

/* -- where there is no original ---------------------------------------------------------------- */

static void *fail_size(size_t size)
{
	(void)size;
	errno = ENOMEM;
	return NULL;
}

static void *fail_aligned(size_t alignment, size_t size)
{
	(void)alignment, (void)size;
	errno = ENOMEM;
	return NULL;
}

static int fail_posix_memalign(void **block, size_t alignment, size_t size)
{
	(void)block, (void)alignment, (void)size;
	return ENOMEM;
}

static _Noreturn void end_without_allocator(void)
{
	static const char message[] =
	        "leakwrap: no shared library of this program has malloc, calloc, realloc and free; "
	        "link it with LEAKWRAP_PROGRAM_LDLIBS (leakwrap cc --program-only)\n";

	leakwrap_write(2, message, sizeof(message) - 1);
	abort();
}

/* -- finding them ------------------------------------------------------------------------------ */

/* Returns whether this code is part of MODULE. */
static bool holds_runtime(const struct leakwrap_module *module)
{
	return (uintptr_t)leakwrap_originals_find - module->start < module->end - module->start;
}

/* The context of visit_module.  FOUND: the first definitions in the modules other than our own, of
 * which the program is the first.  What the tracer of a shared object defines there calls this
 * one. */
struct search {
	bool is_first;
	bool malloc_is_exported;
	function *found[FUNCTION_COUNT];
	function *find_object;
};

static void visit_module(void *context, const struct leakwrap_module *module)
{
	struct search *search = context;
	const bool is_program = search->is_first;

	if (holds_runtime(module)) {
		search->malloc_is_exported = search->is_first && leakwrap_exported_malloc &&
		                             __real_malloc == leakwrap_exported_malloc &&
		                             leakwrap_dynamic_find(module, "malloc") ==
		                                     (uintptr_t)leakwrap_exported_malloc;
		return;
	}
	search->is_first = false;
	if (!is_program && module->tracers_malloc != 0 &&
	    leakwrap_dynamic_find(module, "malloc") == module->tracers_malloc)
		return;
	if (!search->find_object)
		search->find_object = (function *)leakwrap_dynamic_find(module, "_dl_find_object");
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		if (!search->found[i])
			search->found[i] = (function *)leakwrap_dynamic_find(
			        module, leakwrap_functions[i].name);
}

/* Returns the original of the function INDEX: the program's own, or what the loader would have
 * found without our definition.  Returns NULL if there is none. */
static function *find_original(const struct search *search, unsigned index)
{
	function *const real = leakwrap_functions[index].real;

	return real && real != leakwrap_functions[index].exported ? real : search->found[index];
}

/* Replaces what is missing, or must fail, by functions that fail.
 *
 * musl lets its aligned_alloc fail if the program replaces malloc alone, because free would not
 * know the blocks.  Our own definition of aligned_alloc hides from musl that the program has
 * none. */
static void complete(struct leakwrap_originals *found)
{
#ifndef __GLIBC__
	const bool brings_malloc = __real_malloc && __real_malloc != leakwrap_exported_malloc;

	if (brings_malloc && __real_aligned_alloc == leakwrap_exported_aligned_alloc)
		found->aligned_alloc = NULL;
	if (brings_malloc && __real_memalign == leakwrap_exported_memalign)
		found->memalign = NULL;
	if (brings_malloc && __real_posix_memalign == leakwrap_exported_posix_memalign)
		found->posix_memalign = NULL;
#endif
	if (!found->memalign)
		found->memalign = fail_aligned;
	if (!found->aligned_alloc)
		found->aligned_alloc = fail_aligned;
	if (!found->posix_memalign)
		found->posix_memalign = fail_posix_memalign;
	if (!found->valloc)
		found->valloc = fail_size;
	if (!found->pvalloc)
		found->pvalloc = fail_size;
}

/* Notes where the module with the original malloc lies. */
static void note_allocator(void *context, const struct leakwrap_module *module)
{
	struct leakwrap_originals *found = context;

	if ((uintptr_t)found->malloc - module->start < module->end - module->start) {
		found->allocator_start = module->start;
		found->allocator_end = module->end;
	}
}

void leakwrap_originals_find(void)
{
	struct search search = {.is_first = true};
	struct leakwrap_originals found = {0};

	if (leakwrap_originals.are_found || !&leakwrap_has_process_variants)
		return;
	leakwrap_loader_list_visit(visit_module, &search);
#define FIND(name) found.name = (void *)find_original(&search, INDEX_##name);
	FUNCTIONS(FIND)
	if (!found.malloc || !found.free || !found.calloc || !found.realloc)
		end_without_allocator();
	leakwrap_loader_list_visit(note_allocator, &found);
	found.find_object = (void *)search.find_object;
	found.malloc_is_exported = search.malloc_is_exported;
	complete(&found);
	/* Two threads may both be here.  They store the same. */
	leakwrap_originals = found;
	atomic_thread_fence(memory_order_release);
	leakwrap_originals.are_found = true;
}

/* Returns what this tracer calls for malloc.  __real_malloc is this tracer's own malloc where the
 * link of a shared object hides it, or binds it by -Bsymbolic. */
static uintptr_t original_malloc(void)
{
	leakwrap_originals_find();
	return leakwrap_originals.are_found ? (uintptr_t)leakwrap_originals.malloc
	                                    : (uintptr_t)__real_malloc;
}

/* The context of visit_first: whether the first module was visited, and whether its tracer has the
 * function ORIGINAL. */
struct first_module {
	uintptr_t original;
	bool is_visited, has_original;
};

static void visit_first(void *context, const struct leakwrap_module *module)
{
	struct first_module *const first = context;

	if (first->is_visited)
		return;
	first->is_visited = true;
	first->has_original = module->tracers_malloc != 0 && !holds_runtime(module) &&
	                      module->tracers_malloc == first->original;
}

bool leakwrap_program_traces_us(void)
{
	struct first_module first = {.original = original_malloc()};

	leakwrap_loader_list_visit(visit_first, &first);
	return first.has_original;
}

uintptr_t leakwrap_exported_function(const char *name)
{
	for (size_t i = 0; i < ALLOCATOR_COUNT; i++)
		if (strcmp(leakwrap_functions[i].name, name) == 0)
			return leakwrap_functions[i].real == leakwrap_functions[i].exported
			               ? (uintptr_t)leakwrap_functions[i].exported
			               : 0;
	return 0;
}
