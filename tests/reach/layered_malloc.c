/* layered_malloc.c - a malloc on top of another one, as strongSwan's leak detective has it.  A
 * header in front of each block holds the only pointer to a note on the block, which is a block
 * itself.  With -DIN_ARCHIVE, for a static program, it is on top of an allocator of its own. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct header {
	void *note;
	size_t size;
};

#define HEADER_SIZE ((sizeof(struct header) + 15) & ~(size_t)15)

#ifdef IN_ARCHIVE

/* Memory of mmap(2).  None is used twice. */
static void *lower_malloc(size_t size)
{
	static char *free_memory;
	static size_t rest;
	char *const block = free_memory;

	if (!block) {
		rest = (size_t)1 << 20;
		free_memory = mmap(NULL, rest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		                   -1, 0);
		if (free_memory == MAP_FAILED)
			abort();
		return lower_malloc(size);
	}
	size = (size + 15) & ~(size_t)15;
	if (size > rest)
		return NULL;
	rest -= size;
	free_memory += size;
	return block;
}

static void lower_free(void *block)
{
	(void)block;
}

#else

typedef void *malloc_function(size_t size);
typedef void free_function(void *block);

static void *lower_malloc(size_t size)
{
	static malloc_function *function;

	if (!function)
		function = (malloc_function *)dlsym(RTLD_NEXT, "malloc");
	return function(size);
}

static void lower_free(void *block)
{
	static free_function *function;

	if (!function)
		function = (free_function *)dlsym(RTLD_NEXT, "free");
	function(block);
}

#endif

static struct header *header_of(void *block)
{
	return (struct header *)(void *)((char *)block - HEADER_SIZE);
}

void *malloc(size_t size)
{
	static volatile bool is_noting; /* strdup would be a leaf otherwise */
	struct header *const header = lower_malloc(HEADER_SIZE + size);

	if (!header)
		return NULL;
	header->note = NULL;
	header->size = size;
	if (!is_noting) {
		is_noting = true;
		header->note = strdup("a note on this block");
		is_noting = false;
	}
	return (char *)header + HEADER_SIZE;
}

void free(void *block)
{
	if (!block)
		return;
	free(header_of(block)->note);
	lower_free(header_of(block));
}

void *calloc(size_t count, size_t size)
{
	void *const block = malloc(count * size);

	return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *block, size_t size)
{
	void *const new = malloc(size);

	if (new &&block) {
		const size_t old_size = header_of(block)->size;

		memcpy(new, block, old_size < size ? old_size : size);
		free(block);
	}
	return new;
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	if (alignment > 16)
		return EINVAL;
	*block = malloc(size);
	return *block ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	void *block;

	return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

void *memalign(size_t alignment, size_t size)
{
	return aligned_alloc(alignment, size);
}
