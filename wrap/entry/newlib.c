/* newlib.c - newlib's reentrant functions, which its own code calls, and of which malloc and its relatives are
 * made.  Each definition is compiled alone, as those of malloc.c are.
 *
 * newlib's malloc jumps to _malloc_r, or calls it: what comes that way, the wrapper of malloc tells.  The tables would
 * be right without that, since the outer call takes over the record of the inner one (record.h), but every
 * allocation would be walked twice, and every call site have two records. */
#include <stdbool.h>

#include "wrap/entry/define.h"

struct _reent;

/* Both functions of NAME, weak: a program may be linked without that wrap. */
#define OUTER(name)                                              \
	extern const char __real_##name[] __attribute__((weak)); \
	extern const char __wrap_##name[] __attribute__((weak))

/* Is the caller, whose return address PC is, one of them?  The longest of newlib's have 40 bytes; wrappers call the original within the first
 * 80, that of realloc 168. */
static inline bool is_in(uintptr_t pc, const char *function, uintptr_t size)
{
	return function && pc - LEAKWRAP_STRIP((uintptr_t)function) <= size;
}

#define IS_TOLD_BY(name, wrapper_size)                                                       \
	(is_in(LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0)), __real_##name, 64) || \
	 is_in(LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0)), __wrap_##name, wrapper_size))

/* newlib's allocator cuts blocks out of larger ones, and frees the rest with _free_r.  Before the real call, and
 * after it. */
static inline void *begin_parts(void)
{
	void *outer = leakwrap_self.releasing;

	leakwrap_self.releasing = LEAKWRAP_RELEASING_PARTS;
	return outer;
}

static inline void end_parts(void *outer)
{
	leakwrap_self.releasing = outer;
}

#ifdef LEAKWRAP_ENTRY__malloc_r
OUTER(malloc);
ENTRY_DECLARE(void *, _malloc_r, (struct _reent * reent, size_t size));

void *__wrap__malloc_r(struct _reent *reent, size_t size)
{
	if (IS_TOLD_BY(malloc, 128))
		return __real__malloc_r(reent, size);
	leakwrap_begin_allocation();
	return leakwrap_record_allocation(__real__malloc_r(reent, size), size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__calloc_r
OUTER(calloc);
ENTRY_DECLARE(void *, _calloc_r, (struct _reent * reent, size_t count, size_t size));

void *__wrap__calloc_r(struct _reent *reent, size_t count, size_t size)
{
	if (IS_TOLD_BY(calloc, 128))
		return __real__calloc_r(reent, count, size);
	leakwrap_begin_allocation();
	return leakwrap_record_allocation(__real__calloc_r(reent, count, size), count * size,
	                                  LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__memalign_r
OUTER(memalign);
ENTRY_DECLARE(void *, _memalign_r, (struct _reent * reent, size_t alignment, size_t size));

void *__wrap__memalign_r(struct _reent *reent, size_t alignment, size_t size)
{
	bool is_told = IS_TOLD_BY(memalign, 128);
	void *outer = begin_parts();
	void *block;

	if (!is_told)
		leakwrap_begin_allocation();
	block = __real__memalign_r(reent, alignment, size);
	end_parts(outer);
	return is_told ? block : leakwrap_record_allocation(block, size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__realloc_r
OUTER(realloc);
ENTRY_DECLARE(void *, _realloc_r, (struct _reent * reent, void *block, size_t size));

void *__wrap__realloc_r(struct _reent *reent, void *block, size_t size)
{
	bool is_told = IS_TOLD_BY(realloc, 192);
	struct leakwrap_resize was;
	void *outer;

	if (!is_told)
		leakwrap_begin_resize(&was, block, size, 0);
	outer = begin_parts();
	block = __real__realloc_r(reent, block, size);
	end_parts(outer);
	return is_told ? block : leakwrap_end_resize(&was, block, size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__free_r
OUTER(free);
ENTRY_DECLARE(void, _free_r, (struct _reent * reent, void *block));

void __wrap__free_r(struct _reent *reent, void *block)
{
	struct leakwrap_enclosing_release outer;

	if (IS_TOLD_BY(free, 128)) {
		__real__free_r(reent, block);
		return;
	}
	outer = leakwrap_begin_release(block, 0);
	__real__free_r(reent, block);
	leakwrap_end_release(outer);
}
#endif
