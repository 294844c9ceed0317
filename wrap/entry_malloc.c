/* entry_malloc.c - the allocator's own functions.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>. */
#include "entry.h"

#ifdef LEAKWRAP_ENTRY_malloc
void *__real_malloc(size_t size);
LEAKWRAP_ENTRY void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	leakwrap_allocating();
	return leakwrap_allocated(__real_malloc(size), size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY_calloc
void *__real_calloc(size_t count, size_t size);
LEAKWRAP_ENTRY void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	leakwrap_allocating();
	return leakwrap_allocated(__real_calloc(count, size), count * size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY_realloc
void *__real_realloc(void *block, size_t size);
LEAKWRAP_ENTRY void *__wrap_realloc(void *block, size_t size);

void *__wrap_realloc(void *block, size_t size)
{
	struct leakwrap_resize was;

	leakwrap_resizing(&was, block, size);
	return leakwrap_resized(&was, __real_realloc(block, size), size, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY_free
void __real_free(void *block);
LEAKWRAP_ENTRY void __wrap_free(void *block);

void __wrap_free(void *block)
{
	leakwrap_releasing(block);
	__real_free(block);
	leakwrap_released();
}
#endif
