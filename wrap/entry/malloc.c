/* malloc.c - the allocator's own functions.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in place of <symbol>.  Recorded sizes are the sizes that the program asked for,
 * without the allocator's overhead.
 *
 * What malloc does stands in define.h, in ENTRY_DEFINE_ALLOCATE: predict what there will be to
 * record, call the real function, record the block; or take the slow path.  What free does stands
 * in ENTRY_RELEASE.
 *
 * __libc_malloc and its relatives are not wrapped: only allocators call them by name.  In a static
 * musl program malloc and free are built on them. */
#include "wrap/entry/define.h"

#define ALLOCATE(name, parameters, arguments, size)                                       \
	ENTRY_ALLOCATE(leakwrap_record_malloc, void *, name, parameters, arguments, size, \
	               return NULL)
#define RELEASE(name, parameters, arguments) \
	ENTRY_RELEASE(leakwrap_begin_release, name, parameters, arguments)

/* Defines a mark that misuse.c tests.  If the program has its own wrapper for NAME, the linker uses
 * that wrapper and the mark is missing. */
#define OURS(name)                                   \
	extern const char leakwrap_##name##_is_ours; \
	const char leakwrap_##name##_is_ours = 1;

#ifdef LEAKWRAP_ENTRY_malloc
ENTRY_ALLOCATE_LEAF(leakwrap_record_malloc, void *, malloc, (size_t size), (size), size,
                    return NULL)
OURS(malloc)
#endif

/* If the product overflows, the real function returns NULL and nothing is recorded. */
#ifdef LEAKWRAP_ENTRY_calloc
ALLOCATE(calloc, (size_t count, size_t size), (count, size), count *size)
OURS(calloc)
#endif

#ifdef LEAKWRAP_ENTRY_memalign
ALLOCATE(memalign, (size_t alignment, size_t size), (alignment, size), size)
#endif

#ifdef LEAKWRAP_ENTRY_aligned_alloc
ALLOCATE(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size)
#endif

#ifdef LEAKWRAP_ENTRY_valloc
ALLOCATE(valloc, (size_t size), (size), size)
#endif

#ifdef LEAKWRAP_ENTRY_pvalloc
ALLOCATE(pvalloc, (size_t size), (size), size)
#endif

#ifdef LEAKWRAP_ENTRY_posix_memalign
ENTRY_DECLARE(int, posix_memalign, (void **block, size_t alignment, size_t size));

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
	leakwrap_begin_allocation();
	ENTRY_BEGIN_ATTEMPT(size, return ENOMEM)
	int error = __real_posix_memalign(block, alignment, size);
	ENTRY_END_ATTEMPT();
	if (error == 0)
		leakwrap_record_allocation(*block, size, LEAKWRAP_CALLER);
	return error;
}
#endif

#ifdef LEAKWRAP_ENTRY_realloc
ENTRY_RESIZE(realloc, (void *block, size_t size), (block, size), size)
OURS(realloc)
#endif

#ifdef LEAKWRAP_ENTRY_reallocarray
ENTRY_RESIZE(reallocarray, (void *block, size_t count, size_t size), (block, count, size),
             count *size)
#endif

#ifdef LEAKWRAP_ENTRY_free
RELEASE(free, (void *block), (block))
#endif

#ifdef LEAKWRAP_ENTRY_cfree
RELEASE(cfree, (void *block), (block))
#endif

#ifdef LEAKWRAP_ENTRY_free_sized
RELEASE(free_sized, (void *block, size_t size), (block, size))
#endif

#ifdef LEAKWRAP_ENTRY_free_aligned_sized
RELEASE(free_aligned_sized, (void *block, size_t alignment, size_t size), (block, alignment, size))
#endif
