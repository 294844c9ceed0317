/* pagemap.c - the first written page is found in each way that a kernel may offer, and in untouched
 * memory of 4 GiB, with 32 bits 1 GiB, few pieces of the pagemap are read, unless no other way is
 * left.
 * sources: wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_syscall,--wrap=leakwrap_read */
#include "wrap/port/linux.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "unit.h"

long __real_leakwrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __real_leakwrap_read(int fd, void *buffer, size_t size);

static bool has_scan, has_mincore;
static unsigned long swapped, reads, scans, mincores;

long __wrap_leakwrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	if (number == __NR_ioctl && !has_scan)
		return -ENOTTY;
	if (number == __NR_mincore && !has_mincore)
		return -ENOSYS;
	result = __real_leakwrap_syscall(number, a, b, c, d, e, f);
	scans += number == __NR_ioctl && result >= 0;
	mincores += number == __NR_mincore;
	if (number == __NR_sysinfo) {
		struct sysinfo *const info = (void *)a;

		info->totalswap = 1000;
		info->freeswap = 1000 - swapped;
	}
	return result;
}

long __wrap_leakwrap_read(int fd, void *buffer, size_t size);
long __wrap_leakwrap_read(int fd, void *buffer, size_t size)
{
	reads++;
	return __real_leakwrap_read(fd, buffer, size);
}

int main(void)
{
	const size_t page = leakwrap_page_size();
	const size_t size = (size_t)1 << (sizeof(size_t) > 4 ? 32 : 30);
	/* The pages that are written to: neighbours, the first and the last of them far away. */
	const size_t written[] = {5, 511, 512, 513, 5000, 70000, 70001, size / page - 1};
	char *const memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const uintptr_t start = (uintptr_t)memory, end = start + size;
	const int pagemap = leakwrap_pagemap_open();

	CHECK(memory != MAP_FAILED && pagemap >= 0);
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		memory[written[i] * page] = 1;

	for (unsigned way = 0; way < 8; way++) {
		uintptr_t at = start;

		has_scan = (way & 1) != 0;
		has_mincore = (way & 2) != 0;
		swapped = way & 4;
		reads = scans = mincores = 0;
		for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
			at = leakwrap_pages_skip_unwritten(pagemap, at, end);
			CHECK(at == start + written[i] * page);
			at += page;
		}
		CHECK(at == end);
		CHECK(leakwrap_pages_skip_unwritten(pagemap, at, end) == end);
		/* An end inside of a page, and a range without a written page. */
		at = start + 514 * page;
		CHECK(leakwrap_pages_skip_unwritten(pagemap, at, at + 4000 * page + 1) ==
		      at + 4001 * page);
		if (has_scan)
			CHECK(scans > 0 && mincores == 0 && reads < 40);
		else if (has_mincore && swapped == 0)
			CHECK(mincores > 0 && reads < 40);
		else
			CHECK(scans == 0 && mincores == 0 && reads > size / page / 512);
	}
	return 0;
}
