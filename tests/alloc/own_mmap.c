/* own_mmap.c - a program that counts its mappings. Its functions replace the C library's
 * (-Wl,--wrap=mmap64 and so on), and allocate. */
#define _FILE_OFFSET_BITS 64
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct mapping {
	struct mapping *next;
	void *start;
	size_t size;
};

static struct mapping *newest;
static unsigned mapped, unmapped, advised;

void *__real_mmap64(void *start, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *start, size_t size);
int __real_madvise(void *start, size_t size, int advice);
void *__wrap_mmap64(void *start, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *start, size_t size);
int __wrap_madvise(void *start, size_t size, int advice);

void *__wrap_mmap64(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	struct mapping *mapping = malloc(sizeof(*mapping));

	if (!mapping)
		abort();
	start = __real_mmap64(start, size, protection, flags, fd, offset);
	*mapping = (struct mapping){newest, start, size};
	newest = mapping;
	mapped++;
	return start;
}

int __wrap_munmap(void *start, size_t size)
{
	struct mapping *mapping = newest;

	if (!mapping || mapping->start != start || mapping->size != size)
		abort();
	newest = mapping->next;
	free(mapping);
	unmapped++;
	return __real_munmap(start, size);
}

int __wrap_madvise(void *start, size_t size, int advice)
{
	advised++;
	return __real_madvise(start, size, advice);
}

/* Maps memory, uses it, and unmaps it. */
static void use_memory(void)
{
	const size_t size = 65536;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, size, MADV_DONTNEED);
	munmap(memory, size);
}

static void *volatile kept;

int main(void)
{
	for (int i = 1; i <= 200; i++)
		kept = malloc((size_t)i << 10);
	use_memory();
	printf("%u mapped, %u unmapped, %u advised\n", mapped, unmapped, advised);
	return 0;
}
