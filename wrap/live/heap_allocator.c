/* heap_allocator.c - see heap_allocator.h. */
#include "wrap/live/heap_allocator.h"

#include "wrap/module/modules.h"

#include <features.h>
#include <stddef.h>
#include <stdint.h>

/* Weak: NULL when the program has no such function. */
extern void *__libc_malloc(size_t size) __attribute__((weak));

#ifdef __GLIBC__

/* __libc_mallopt comes from the same source file as glibc's malloc (malloc/malloc.c), and what that is compiled to is not large.  Other
 * allocators have __libc_malloc (tcmalloc, mimalloc), malloc_trim (dlmalloc, hardened_malloc), or both (Google's tcmalloc), but not this. */
#define NEAR ((uintptr_t)1 << 18)

extern int __libc_mallopt(int parameter, int value) __attribute__((weak));

static bool is_beside_mallopt(uintptr_t one)
{
	const uintptr_t other = (uintptr_t)__libc_mallopt;

	return other != 0 && (one < other ? other - one : one - other) < NEAR;
}

#endif

bool leakwrap_heap_is_libc(void)
{
	const uintptr_t one = (uintptr_t)__real_malloc;

	if (one == 0 || one != (uintptr_t)__libc_malloc)
		return false;
#ifdef __GLIBC__
	return is_beside_mallopt(one);
#else
	return true;
#endif
}

bool leakwrap_allocator_is_glibc(void)
{
#ifdef __GLIBC__
	return leakwrap_heap_is_libc();
#else
	return false;
#endif
}

/* In the members that wrap/generator/generate.sh makes, for an allocator that the user named. */
extern const char leakwrap_allocator_is_named __attribute__((weak));

bool leakwrap_heap_min_block_is_4_words(void)
{
	return leakwrap_allocator_is_glibc() && !&leakwrap_allocator_is_named;
}
