/* heap_allocator.c - see heap_allocator.h. */
#include "wrap/live/heap_allocator.h"

#include "wrap/base/c_library.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/loaded.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"

#include <stddef.h>
#include <stdint.h>

/* The allocator's malloc.  Only its address is used.  Weak: NULL if the program was linked without
 * --wrap=malloc. */
extern void *__real_malloc(size_t size) __attribute__((weak));

/* The C library's malloc.  Weak: NULL if the program has no such function. */
extern void *__libc_malloc(size_t size) __attribute__((weak));

#ifdef LEAKWRAP_GLIBC

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
#ifdef LEAKWRAP_GLIBC
	return is_beside_mallopt(malloc_address);
#else
	return true;
#endif
}

bool leakwrap_heap_is_glibc(void)
{
#ifdef LEAKWRAP_GLIBC
	return leakwrap_heap_is_libc();
#else
	return false;
#endif
}

/* -- what lies between blocks ------------------------------------------------------------------ */

/* Returns whether the shared library MODULE, which has the malloc, is the C library, or one of the
 * allocators that keep no pointers to live blocks between them: jemalloc, the tcmallocs of
 * gperftools and of Google, mimalloc, rpmalloc, oneTBB's proxy, hardened_malloc, the two scudos,
 * and the sanitizers. */
static bool is_plain_library(const struct leakwrap_module *module)
{
	static const char *const functions[] = {
	        "__libc_start_main",
	        "__uClibc_main",
	        "mallctl",
	        "tc_version",
	        "MallocExtension_Internal_GetNumericProperty",
	        "mi_version",
	        "rpmalloc_initialize",
	        "__TBB_malloc_proxy",
	        "malloc_object_size",
	        "__scudo_print_stats",
	        "__sanitizer_get_ownership",
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (leakwrap_dynamic_find(module, functions[i]) != 0)
			return true;
	return false;
}

/* A function of each of these allocators that may be in the program itself; the first two are of
 * jemalloc and of the jemalloc of Rust's tikv.  Weak: NULL if it is not there.  Only the addresses
 * are used.  ld.bfd and gold refuse a weak reference to a function that a shared library calls and
 * only another library's library defines.  So these are functions inside the allocator, or hardly
 * called. */
extern int je_ctl_boot(void) __attribute__((weak));
extern int _rjem_je_ctl_boot(void) __attribute__((weak));
extern int _ZN8tcmalloc6Static14InitStaticVarsEv(void) __attribute__((weak));
extern int MallocExtension_Internal_GetNumericProperty(void) __attribute__((weak));
extern int mi_process_init(void) __attribute__((weak));
extern int rpmalloc_initialize(void) __attribute__((weak));
extern int malloc_object_size(void) __attribute__((weak));
extern int __scudo_print_stats(void) __attribute__((weak));
extern int __sanitizer_get_ownership(void) __attribute__((weak));

bool leakwrap_heap_program_has_jemalloc(void)
{
	return je_ctl_boot || _rjem_je_ctl_boot;
}

/* Returns whether the malloc in the program itself keeps no pointers there.  In a static program
 * without glibc no name tells the C library's malloc from the program's own: it counts as the C
 * library's. */
static bool is_plain_in_program(void)
{
	if (leakwrap_heap_program_has_jemalloc() || _ZN8tcmalloc6Static14InitStaticVarsEv ||
	    MallocExtension_Internal_GetNumericProperty || mi_process_init || rpmalloc_initialize ||
	    malloc_object_size || __scudo_print_stats || __sanitizer_get_ownership)
		return true;
#ifdef LEAKWRAP_GLIBC
	return leakwrap_heap_is_glibc();
#else
	return leakwrap_modules_are_program_alone();
#endif
}

bool leakwrap_heap_has_plain_gaps(void)
{
	const struct leakwrap_module *const module = leakwrap_module_at(malloc_of_program());

	return module && !module->is_program ? is_plain_library(module) : is_plain_in_program();
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
