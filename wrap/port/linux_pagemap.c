/* linux_pagemap.c - the Linux port: which pages are in memory. */
#include "wrap/port/linux.h"

#include <sys/ioctl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* /proc/self/pagemap has a 64-bit word for each page (Linux,
 * Documentation/admin-guide/mm/pagemap.rst).  mincore cannot replace it: it reports a swapped-out
 * page like a page that was never written to. */
#define IN_MEMORY (UINT64_C(1) << 63)
#define SWAPPED   (UINT64_C(1) << 62)
#define FROM_FILE (UINT64_C(1) << 61) /* or in shared memory; since Linux 3.5 */
#define GUARD     (UINT64_C(1) << 58) /* MADV_GUARD_INSTALL, beside SWAPPED; since Linux 6.15 */

static bool is_written(uint64_t word)
{
	return (word & (IN_MEMORY | SWAPPED)) != 0 && (word & GUARD) == 0;
}

/* Reads the words of COUNT pages from START on.  Returns false if PAGEMAP cannot be read. */
static bool read_pagemap(int pagemap, uintptr_t start, uint64_t *word, size_t count)
{
	const long at = (long)(start / leakwrap_page_size() * sizeof(*word));
	const long size = (long)(count * sizeof(*word));

	return pagemap >= 0 && leakwrap_syscall(__NR_lseek, pagemap, at, SEEK_SET, 0, 0, 0) == at &&
	       leakwrap_read(pagemap, word, (size_t)size) == size;
}

/* Asks the kernel for the first page from *START on, before END, that is in memory or swapped out,
 * and moves *START there.  Returns false if the kernel cannot tell: it can since Linux 6.7
 * (PAGEMAP_SCAN(2const), which has the names and the order of the fields; older headers lack
 * them). */
static bool find_by_scan(int pagemap, uintptr_t *start, uintptr_t end)
{
	enum { PRESENT = 1 << 3, IN_SWAP = 1 << 4 };
	uint64_t region[3] = {0}; /* its start, its end, and its categories */
	struct {
		uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
		uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
	} scan = {.size = sizeof(scan),
	          .start = *start,
	          .end = end,
	          .vec = (uintptr_t)region,
	          .vec_len = 1,
	          .max_pages = 1,
	          .category_anyof_mask = PRESENT | IN_SWAP,
	          .return_mask = PRESENT | IN_SWAP};
	const long regions = leakwrap_syscall(__NR_ioctl, pagemap, (long)_IOWR('f', 16, scan),
	                                      (long)&scan, 0, 0, 0);

	if (regions < 0)
		return false;
	*start = (uintptr_t)(regions > 0 ? region[0] : scan.walk_end);
	return true;
}

/* Returns whether the system has swapped nothing out: no page of this process, either. */
static bool is_swap_empty(void)
{
	struct sysinfo info;

	return leakwrap_syscall(__NR_sysinfo, (long)&info, 0, 0, 0, 0, 0) == 0 &&
	       info.freeswap == info.totalswap;
}

/* Does what find_by_scan does, on any kernel as long as nothing is swapped out.  PRESENT: a buffer
 * of ROOM bytes.  mincore fills in a byte for each page, and is far faster than the pagemap where
 * there is no page. */
static bool find_by_mincore(uintptr_t *start, uintptr_t end, unsigned char *present, size_t room)
{
	const size_t page = leakwrap_page_size();
	uintptr_t at = *start;
	bool is_found = false;

	if (!is_swap_empty())
		return false;
	while (at < end && !is_found) {
		const size_t pages = (end - at + page - 1) / page;
		const size_t count = pages < room ? pages : room;
		size_t absent = 0;

		if (leakwrap_syscall(__NR_mincore, (long)at, (long)(count * page), (long)present, 0,
		                     0, 0) != 0)
			return false;
		/* The other bits are reserved (mincore(2)). */
		while (absent < count && !(present[absent] & 1))
			absent++;
		is_found = absent < count;
		at += absent * page;
	}
	if (!is_swap_empty())
		return false;
	*start = at;
	return true;
}

uintptr_t leakwrap_pages_skip_unwritten(int pagemap, uintptr_t start, uintptr_t end)
{
	const size_t page = leakwrap_page_size();
	uint64_t word[512];
	const size_t count = sizeof(word) / sizeof(word[0]);

	while (start < end && read_pagemap(pagemap, start, word, count)) {
		for (size_t i = 0; i < count && start < end; i++, start += page)
			if (is_written(word[i]))
				return start;
		if (start < end && !find_by_scan(pagemap, &start, end))
			find_by_mincore(&start, end, (unsigned char *)word, sizeof(word));
	}
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
		if (is_written(word[i]) && (word[i] & unwanted) == 0)
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
	int pagemap = (int)leakwrap_proc_open("pagemap");

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
