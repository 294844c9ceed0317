/* linux_pagemap.c - the Linux port: which pages are in memory. */
#include "wrap/port/linux.h"

#include <unistd.h>

/* /proc/self/pagemap has a 64-bit word for each page (Linux,
 * Documentation/admin-guide/mm/pagemap.rst).  mincore cannot replace it: it reports a swapped-out
 * page like a page that was never written to. */
#define IN_MEMORY (UINT64_C(1) << 63)
#define SWAPPED   (UINT64_C(1) << 62)
#define FROM_FILE (UINT64_C(1) << 61) /* or in shared memory; since Linux 3.5 */

/* Reads the words of COUNT pages from START on.  Returns false if PAGEMAP cannot be read. */
static bool read_pagemap(int pagemap, uintptr_t start, uint64_t *word, size_t count)
{
	const long at = (long)(start / leakwrap_page_size() * sizeof(*word));
	const long size = (long)(count * sizeof(*word));

	return pagemap >= 0 && leakwrap_syscall(__NR_lseek, pagemap, at, SEEK_SET, 0, 0, 0) == at &&
	       leakwrap_read(pagemap, word, (size_t)size) == size;
}

uintptr_t leakwrap_pages_skip_unwritten(int pagemap, uintptr_t start, uintptr_t end)
{
	const size_t page = leakwrap_page_size();
	uint64_t word[512];
	const size_t count = sizeof(word) / sizeof(word[0]);

	while (start < end && read_pagemap(pagemap, start, word, count))
		for (size_t i = 0; i < count && start < end; i++, start += page)
			if ((word[i] & (IN_MEMORY | SWAPPED)) != 0)
				return start;
	return start;
}

/* Returns a bit for each of LEAKWRAP_PAGES_AT_ONCE pages from START.  A bit is set if the page is
 * in memory or swapped out, and has none of the bits UNWANTED in the pagemap.  All are set if
 * PAGEMAP cannot be read. */
static uint64_t pages_without(uint64_t unwanted, int pagemap, const void *start, size_t *page)
{
	uint64_t word[LEAKWRAP_PAGES_AT_ONCE];
	uint64_t found = 0;

	*page = leakwrap_page_size();
	if (!read_pagemap(pagemap, (uintptr_t)start, word, LEAKWRAP_PAGES_AT_ONCE))
		return UINT64_MAX;
	for (unsigned i = 0; i < LEAKWRAP_PAGES_AT_ONCE; i++)
		if ((word[i] & (IN_MEMORY | SWAPPED)) != 0 && (word[i] & unwanted) == 0)
			found |= UINT64_C(1) << i;
	return found;
}

uint64_t leakwrap_pages_written(int pagemap, const void *start, size_t *page)
{
	return pages_without(0, pagemap, start, page);
}

uint64_t leakwrap_private_pages_written(int pagemap, const void *start, size_t *page)
{
	return pages_without(FROM_FILE, pagemap, start, page);
}

/* Returns whether PAGEMAP distinguishes a written page from an unwritten page.  Under an emulator
 * of processes (qemu) it describes the emulator's pages. */
static bool is_pagemap_usable(int pagemap)
{
	size_t page = leakwrap_page_size();
	volatile char *probe = leakwrap_scratch_map(2 * page);
	uint64_t written;

	if (!probe)
		return false;
	*probe = 1;
	written = leakwrap_pages_written(pagemap, (const void *)probe, &page);
	leakwrap_scratch_unmap((void *)probe, 2 * page);
	return (written & 3) == 1;
}

int leakwrap_pagemap_open(void)
{
	int pagemap = (int)leakwrap_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);

	if (pagemap >= 0 && !is_pagemap_usable(pagemap)) {
		leakwrap_close(pagemap);
		return -1;
	}
	return pagemap;
}

uint64_t leakwrap_pages_present(const void *start, size_t size, size_t *page)
{
	unsigned char present[LEAKWRAP_PAGES_AT_ONCE];
	uint64_t bits = 0;

	*page = leakwrap_page_size();
	if (size > LEAKWRAP_PAGES_AT_ONCE * *page)
		size = LEAKWRAP_PAGES_AT_ONCE * *page;
	if (leakwrap_syscall(__NR_mincore, (long)start, (long)size, (long)present, 0, 0, 0) != 0)
		return 0;
	for (size_t i = 0; i < size / *page; i++)
		bits |= (uint64_t)(present[i] & 1) << i;
	return bits;
}
