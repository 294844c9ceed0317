/* dense_malloc.c - an allocator with blocks 16 bytes apart. It has names that look like glibc's
 * own, as Google's tcmalloc has. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define AREA  ((size_t)64 << 20)
#define SLAB  ((size_t)65536) /* has blocks of one size; the size stands at its start */
#define UNIT  ((size_t)16)
#define SMALL ((size_t)512)
#define PAGE  ((size_t)4096) /* lies in front of a larger block; the size stands at its start */

int dense_calls;

/* With so much alignment a static program gets a segment that has nothing in the file. */
static _Alignas(65536) char area[AREA];
static size_t used;
static char *fresh[SMALL / UNIT + 1], *end[SMALL / UNIT + 1], *freed[SMALL / UNIT + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_small(const char *block)
{
	return block >= area && block < area + AREA;
}

static size_t *size_of(char *block)
{
	return (size_t *)(is_small(block) ? area + (size_t)(block - area) / SLAB * SLAB
	                                  : block - PAGE);
}

static void *large(size_t size)
{
	char *page =
	        mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	*(size_t *)page = size;
	return page + PAGE;
}

void *malloc(size_t size)
{
	const size_t class = (size + UNIT - 1) / UNIT + (size == 0);
	char *block;

	if (size > SMALL)
		return size > PTRDIFF_MAX ? NULL : large(size);
	pthread_mutex_lock(&lock);
	dense_calls++;
	block = freed[class];
	if (block) {
		freed[class] = *(char **)(void *)block;
	} else {
		if (!fresh[class] || fresh[class] + class * UNIT > end[class]) {
			fresh[class] = area + used + UNIT;
			used += SLAB;
			end[class] = area + used;
			*size_of(fresh[class]) = class * UNIT;
		}
		block = fresh[class];
		fresh[class] += class * UNIT;
	}
	pthread_mutex_unlock(&lock);
	return block;
}

void free(void *block)
{
	size_t size;

	if (!block)
		return;
	size = *size_of(block);
	if (!is_small(block)) {
		munmap((char *)block - PAGE, size + PAGE);
		return;
	}
	pthread_mutex_lock(&lock);
	memcpy(block, &freed[size / UNIT], sizeof(char *));
	freed[size / UNIT] = block;
	pthread_mutex_unlock(&lock);
}

void *calloc(size_t count, size_t size)
{
	void *block = malloc(count * size);

	return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *old, size_t size)
{
	void *block = malloc(size);

	if (block && old) {
		memcpy(block, old, size < *size_of(old) ? size : *size_of(old));
		free(old);
	}
	return block;
}

void *memalign(size_t alignment, size_t size)
{
	return alignment <= UNIT ? malloc(size) : large(size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = memalign(alignment, size);
	return *block ? 0 : ENOMEM;
}

int malloc_trim(size_t pad)
{
	(void)pad;
	return 0;
}

void *__libc_malloc(size_t size) __attribute__((alias("malloc")));
