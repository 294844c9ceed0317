/* newlib.c - newlib's reentrant allocation functions.  newlib's own code calls them, and malloc and
 * its relatives are built on them.  Each definition is compiled alone, like those of malloc.c.
 *
 * newlib's malloc jumps to _malloc_r or calls it.  The wrapper of malloc records such a call, so
 * the wrapper of _malloc_r must not.  The tables would be right without this rule, since the outer
 * call takes over the record of the inner call (record.h).  But every allocation would be walked
 * twice, and every call site would have two records.
 *
 * newlib's allocator cuts a block out of a larger block, and frees the remainder with _free_r. */
#include <stdbool.h>

#include "wrap/entry/define.h"

struct _reent;

/* Declares the original and the wrapper of NAME.  Weak: a program may lack the wrap. */
#define DECLARE_OUTER(name)                                      \
	extern const char __real_##name[] __attribute__((weak)); \
	extern const char __wrap_##name[] __attribute__((weak))

/* Returns whether the return address PC lies in the first SIZE bytes of FUNCTION.  newlib's
 * functions have at most 40 bytes.  Wrappers call the original within their first 80 bytes, that of
 * realloc within 168. */
static inline bool is_in(uintptr_t pc, const char *function, uintptr_t size)
{
	return function && pc - LEAKWRAP_STRIP((uintptr_t)function) <= size;
}

#define IS_RECORDED_BY(name, wrapper_size)                                                   \
	(is_in(LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0)), __real_##name, 64) || \
	 is_in(LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0)), __wrap_##name,        \
	       wrapper_size))

#ifdef LEAKWRAP_ENTRY__malloc_r
DECLARE_OUTER(malloc);
ENTRY_DECLARE(void *, _malloc_r, (struct _reent * reent, size_t size));

void *__wrap__malloc_r(struct _reent *reent, size_t size)
{
	if (IS_RECORDED_BY(malloc, 128))
		return __real__malloc_r(reent, size);
	leakwrap_begin_allocation();
	return leakwrap_record_allocation(__real__malloc_r(reent, size), size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__calloc_r
DECLARE_OUTER(calloc);
ENTRY_DECLARE(void *, _calloc_r, (struct _reent * reent, size_t count, size_t size));

void *__wrap__calloc_r(struct _reent *reent, size_t count, size_t size)
{
	if (IS_RECORDED_BY(calloc, 128))
		return __real__calloc_r(reent, count, size);
	leakwrap_begin_allocation();
	return leakwrap_record_allocation(__real__calloc_r(reent, count, size), count * size,
	                                  LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__memalign_r
DECLARE_OUTER(memalign);
ENTRY_DECLARE(void *, _memalign_r, (struct _reent * reent, size_t alignment, size_t size));

void *__wrap__memalign_r(struct _reent *reent, size_t alignment, size_t size)
{
	bool is_recorded = IS_RECORDED_BY(memalign, 128);
	struct leakwrap_enclosing_release outer;
	void *block;

	if (!is_recorded)
		leakwrap_begin_allocation();
	outer = leakwrap_begin_split(0);
	block = __real__memalign_r(reent, alignment, size);
	leakwrap_end_release(outer);
	return is_recorded ? block : leakwrap_record_allocation(block, size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__realloc_r
DECLARE_OUTER(realloc);
ENTRY_DECLARE(void *, _realloc_r, (struct _reent * reent, void *block, size_t size));

void *__wrap__realloc_r(struct _reent *reent, void *block, size_t size)
{
	bool is_recorded = IS_RECORDED_BY(realloc, 192);
	struct leakwrap_resize resize;
	struct leakwrap_enclosing_release outer;

	if (!is_recorded)
		leakwrap_begin_resize(&resize, block, size, 0);
	outer = leakwrap_begin_split(0);
	block = __real__realloc_r(reent, block, size);
	leakwrap_end_release(outer);
	return is_recorded ? block : leakwrap_end_resize(&resize, block, size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__free_r
DECLARE_OUTER(free);
ENTRY_DECLARE(void, _free_r, (struct _reent * reent, void *block));

void __wrap__free_r(struct _reent *reent, void *block)
{
	struct leakwrap_enclosing_release outer;

	if (IS_RECORDED_BY(free, 128)) {
		__real__free_r(reent, block);
		return;
	}
	outer = leakwrap_begin_release(block, 0);
	__real__free_r(reent, block);
	leakwrap_end_release(outer);
}
#endif
