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

#define ALLOCATE(skip, name, parameters, arguments, size)                                \
	ENTRY_ALLOCATE_AS(leakwrap_record_malloc, skip, false, void *, name, parameters, \
	                  arguments, size, return NULL)
#define RELEASE(name, parameters, arguments) \
	ENTRY_RELEASE(leakwrap_begin_release, name, parameters, arguments)

/* Defines a mark that misuse.c and coverage.c test.  If the program has its own wrapper for NAME,
 * the linker uses that wrapper and the mark is missing. */
#ifdef LEAKWRAP_EXPORT
#define OURS(name)
#else
#define OURS(name)                                   \
	extern const char leakwrap_##name##_is_ours; \
	const char leakwrap_##name##_is_ours = 1;
#endif

#if defined LEAKWRAP_ENTRY_malloc && defined LEAKWRAP_PROCESS
/* The program exports the whole family or nothing: a block of one function may be freed or resized
 * by another.  A reference to a function takes its member out of the archive.  ld.lld takes the
 * wrapper of a weak function for weak, too, and does not look for it without a reference. */
#define REFER(name) __asm__(".globl leakwrap_exported_" #name ", __wrap_" #name)
REFER(malloc);
REFER(calloc);
REFER(realloc);
REFER(free);
#ifndef LEAKWRAP_NO_memalign
REFER(memalign);
#endif
#ifndef LEAKWRAP_NO_aligned_alloc
REFER(aligned_alloc);
#endif
#ifndef LEAKWRAP_NO_posix_memalign
REFER(posix_memalign);
#endif
#ifndef LEAKWRAP_NO_valloc
REFER(valloc);
#endif
#ifndef LEAKWRAP_NO_pvalloc
REFER(pvalloc);
#endif
/* Nor does it export _exit without the family. */
__asm__(".globl leakwrap_exported__exit");
#endif

#ifdef LEAKWRAP_ENTRY_free
RELEASE(free, (void *block), (block))
OURS(free)
#endif

#ifdef LEAKWRAP_ENTRY_cfree
/* New C libraries lack it, and sanitizers define it.  The member every_c takes this wrapper in for
 * them (wrap.mk), and must link without them, too. */
void __real_cfree(void *block) __attribute__((weak));
RELEASE(cfree, (void *block), (block))
#endif

#ifdef LEAKWRAP_ENTRY_free_sized
RELEASE(free_sized, (void *block, size_t size), (block, size))
#endif

#ifdef LEAKWRAP_ENTRY_free_aligned_sized
RELEASE(free_aligned_sized, (void *block, size_t alignment, size_t size), (block, alignment, size))
#endif

#ifdef LEAKWRAP_FREES_REMAINDERS
#undef ENTRY_CALL_ORIGINAL
#define ENTRY_CALL_ORIGINAL(name, arguments)                              \
	({                                                                \
		const struct leakwrap_enclosing_release outer =           \
		        leakwrap_begin_split(LEAKWRAP_CALLER.sp);         \
		__typeof__(ENTRY_ORIGINAL(name) arguments) of_allocator = \
		        ENTRY_ORIGINAL(name) arguments;                   \
		leakwrap_end_release(outer);                              \
		of_allocator;                                             \
	})
#undef ENTRY_ORIGINAL_TO_SKIP
#define ENTRY_ORIGINAL_TO_SKIP(name) NULL
#endif

#ifdef LEAKWRAP_ENTRY_malloc
ALLOCATE(LEAKWRAP_SKIP_BEFORE_CALL, malloc, (size_t size), (size), size)
OURS(malloc)
#endif

/* If the product overflows, the real function returns NULL and nothing is recorded. */
#ifdef LEAKWRAP_ENTRY_calloc
ALLOCATE(LEAKWRAP_SKIP_BEFORE_LEAF, calloc, (size_t count, size_t size), (count, size), count *size)
OURS(calloc)
#endif

#ifdef LEAKWRAP_ENTRY_memalign
ALLOCATE(LEAKWRAP_SKIP_NOT, memalign, (size_t alignment, size_t size), (alignment, size), size)
#endif

#ifdef LEAKWRAP_ENTRY_aligned_alloc
ALLOCATE(LEAKWRAP_SKIP_NOT, aligned_alloc, (size_t alignment, size_t size), (alignment, size), size)
#endif

#ifdef LEAKWRAP_ENTRY_valloc
ALLOCATE(LEAKWRAP_SKIP_NOT, valloc, (size_t size), (size), size)
#endif

#ifdef LEAKWRAP_ENTRY_pvalloc
ALLOCATE(LEAKWRAP_SKIP_NOT, pvalloc, (size_t size), (size), size)
#endif

#ifdef LEAKWRAP_ENTRY_posix_memalign
ENTRY_DECLARE(int, posix_memalign, (void **block, size_t alignment, size_t size));

/* Calls the original and records the block, for a wrapper that has begun an allocation. */
LEAKWRAP_INLINE int align_and_record(void **block, size_t alignment, size_t size)
{
	ENTRY_PASS_ON_FIRST(ENTRY_CALL_ORIGINAL(posix_memalign, (block, alignment, size)))
	struct leakwrap_attempt attempt = {.guard = 0};
	if (entry_may_fail() && leakwrap_begin_attempt(&attempt, size, LEAKWRAP_CALLER))
		return ENOMEM;
	int error = ENTRY_CALL_ORIGINAL(posix_memalign, (block, alignment, size));
	leakwrap_end_attempt(&attempt);
	if (error == 0)
		leakwrap_record_allocation(*block, size, LEAKWRAP_CALLER);
	else
		leakwrap_record_failure(size, error);
	return error;
}

int ENTRY_WRAPPER(posix_memalign, (void **block, size_t alignment, size_t size))
{
	leakwrap_begin_allocation();
	ENTRY_FIND_ORIGINAL();
	return align_and_record(block, alignment, size);
}

#ifdef LEAKWRAP_EXPORT
ENTRY_EXPORT(int, posix_memalign, (void **block, size_t alignment, size_t size))
{
	if (!leakwrap_begin_library_calls())
		return ENTRY_CALL_ORIGINAL(posix_memalign, (block, alignment, size));
	leakwrap_begin_allocation();
	return align_and_record(block, alignment, size);
}
#endif
#endif

#ifdef LEAKWRAP_ENTRY_realloc
ENTRY_RESIZE(LEAKWRAP_SKIP_BEFORE_LEAF, realloc, (void *block, size_t size), (block, size), size)
OURS(realloc)
#endif

#ifdef LEAKWRAP_ENTRY_reallocarray
ENTRY_RESIZE(LEAKWRAP_SKIP_NOT, reallocarray, (void *block, size_t count, size_t size),
             (block, count, size), count *size)
#endif
