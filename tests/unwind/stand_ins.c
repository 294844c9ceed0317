/* stand_ins.c - defines what the rule cache needs of the rest of the runtime, for tests of single
 * parts. */
#include "wrap/module/registry.h"
#include "wrap/port/port.h"

#include <sys/mman.h>

unsigned leakwrap_modules_generation(void)
{
	return 0;
}

void *leakwrap_pages_map_sparse(size_t size, bool is_one_of_few)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)is_one_of_few;
	return pages == MAP_FAILED ? NULL : pages;
}

void leakwrap_pages_unmap(void *pages, size_t size)
{
	munmap(pages, size);
}
