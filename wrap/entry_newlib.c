/* entry_newlib.c - newlib's reentrant functions, which its own code calls, and of which malloc and its relatives are
 * made: a block that comes by both is one record (entry.h).  Each definition is compiled alone, as those of
 * entry_malloc.c are. */
#include "entry_shapes.h"

struct _reent;

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
ENTRY_ALLOCATE(void *, _malloc_r, (struct _reent * reent, size_t size), (reent, size), size)
#endif

#ifdef LEAKWRAP_ENTRY__calloc_r
ENTRY_ALLOCATE(void *, _calloc_r, (struct _reent * reent, size_t count, size_t size),
               (reent, count, size), count *size)
#endif

#ifdef LEAKWRAP_ENTRY__memalign_r
ENTRY_DECLARE(void *, _memalign_r, (struct _reent * reent, size_t alignment, size_t size));

void *__wrap__memalign_r(struct _reent *reent, size_t alignment, size_t size)
{
	void *outer = begin_parts();
	void *block;

	leakwrap_allocating();
	block = __real__memalign_r(reent, alignment, size);
	end_parts(outer);
	return leakwrap_allocated(block, size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__realloc_r
ENTRY_DECLARE(void *, _realloc_r, (struct _reent * reent, void *block, size_t size));

void *__wrap__realloc_r(struct _reent *reent, void *block, size_t size)
{
	struct leakwrap_resize was;
	void *outer;

	leakwrap_resizing(&was, block, size);
	outer = begin_parts();
	block = __real__realloc_r(reent, block, size);
	end_parts(outer);
	return leakwrap_resized(&was, block, size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY__free_r
ENTRY_RELEASE(_free_r, (struct _reent * reent, void *block), (reent, block))
#endif
