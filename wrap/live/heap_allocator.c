/* heap_allocator.c - see heap_allocator.h. */
#include "wrap/live/heap_allocator.h"

#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/modules.h"
#include "wrap/module/originals.h"

#include <features.h>
#include <stddef.h>
#include <stdint.h>

/* The allocator's malloc.  Only its address is used.  Weak: NULL if the program was linked without
 * --wrap=malloc. */
extern void *__real_malloc(size_t size) __attribute__((weak));

/* The C library's malloc.  Weak: NULL if the program has no such function. */
extern void *__libc_malloc(size_t size) __attribute__((weak));

#ifdef __GLIBC__

/* Largest distance between glibc's malloc and its __libc_mallopt.  Both come from malloc/malloc.c,
 * and the code of that file is not large.  Other allocators define __libc_malloc (tcmalloc,
 * mimalloc), malloc_trim (dlmalloc, hardened_malloc), or both (Google's tcmalloc), but not
 * __libc_mallopt. */
#define SAME_FILE_DISTANCE ((uintptr_t)1 << 18)

extern int __libc_mallopt(int parameter, int value) __attribute__((weak));

static bool is_beside_mallopt(uintptr_t malloc_address)
{
	const uintptr_t mallopt = (uintptr_t)__libc_mallopt;

	return mallopt != 0 &&
	       (malloc_address < mallopt ? mallopt - malloc_address : malloc_address - mallopt) <
	               SAME_FILE_DISTANCE;
}

#endif

static uintptr_t malloc_of_program(void)
{
	return leakwrap_originals.are_found ? (uintptr_t)leakwrap_originals.malloc
	                                    : (uintptr_t)__real_malloc;
}

bool leakwrap_heap_is_libc(void)
{
	const uintptr_t malloc_address = malloc_of_program();

	if (malloc_address == 0 || malloc_address != (uintptr_t)__libc_malloc)
		return false;
#ifdef __GLIBC__
	return is_beside_mallopt(malloc_address);
#else
	return true;
#endif
}

bool leakwrap_heap_is_glibc(void)
{
#ifdef __GLIBC__
	return leakwrap_heap_is_libc();
#else
	return false;
#endif
}

/* -- what lies between blocks ------------------------------------------------------------------ */

/* A function of each allocator that keeps no pointers to live blocks between them: jemalloc, the
 * tcmallocs of gperftools and of Google, mimalloc, rpmalloc, oneTBB's proxy, hardened_malloc, the
 * two scudos, and the sanitizers.  No name ends as an allocating function's does: leakwrap audit
 * would take the reference for a call. */
#define ALLOCATORS(X)                                  \
	X(mallctl)                                     \
	X(tc_version)                                  \
	X(MallocExtension_Internal_GetNumericProperty) \
	X(mi_version)                                  \
	X(rpmalloc_initialize)                         \
	X(__TBB_malloc_proxy)                          \
	X(malloc_object_size)                          \
	X(__scudo_print_stats)                         \
	X(__sanitizer_get_ownership)

/* Weak: NULL if the program was linked without it.  Only their addresses are used. */
#define DECLARE(name) extern int name(void) __attribute__((weak));
ALLOCATORS(DECLARE)

/* Returns whether the shared library MODULE, which has the malloc, keeps no pointers there. */
static bool is_plain_library(const struct leakwrap_module *module)
{
#define NAME(name) #name,
	static const char *const names[] = {"__libc_start_main", ALLOCATORS(NAME)};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (leakwrap_dynamic_find(module, names[i]) != 0)
			return true;
	return false;
}

/* Returns whether the malloc in the program itself keeps no pointers there.  In a static program
 * without glibc no name tells the C library's malloc from the program's own: it counts as the C
 * library's. */
static bool is_plain_in_program(void)
{
#define IS_LINKED(name) \
	if (name)       \
		return true;
	ALLOCATORS(IS_LINKED)
#ifdef __GLIBC__
	return leakwrap_heap_is_glibc();
#else
	return leakwrap_modules_are_program_alone();
#endif
}

bool leakwrap_heap_has_plain_gaps(void)
{
	const struct leakwrap_module *const module = leakwrap_module_at(malloc_of_program());

	return module && !module->main ? is_plain_library(module) : is_plain_in_program();
}

/* ---------------------------------------------------------------------------------------------- */

/* The other functions, as above.  A program may define one of them alone. */
extern void *__real_calloc(size_t count, size_t size) __attribute__((weak));
extern void *__real_realloc(void *block, size_t size) __attribute__((weak));
extern void *__libc_calloc(size_t count, size_t size) __attribute__((weak));
extern void *__libc_realloc(void *block, size_t size) __attribute__((weak));

bool leakwrap_heap_has_leaves(void)
{
	if (leakwrap_originals.are_found)
		return leakwrap_heap_is_glibc() && leakwrap_originals.calloc == __libc_calloc &&
		       leakwrap_originals.realloc == __libc_realloc;
	return leakwrap_heap_is_glibc() && __real_calloc == __libc_calloc &&
	       __real_realloc == __libc_realloc;
}

/* Defined by the archive members that wrap/generator/generate.sh makes for an allocator that the
 * user named. */
extern const char leakwrap_allocator_is_named __attribute__((weak));

bool leakwrap_heap_min_block_is_4_words(void)
{
	return leakwrap_heap_is_glibc() && !&leakwrap_allocator_is_named;
}
