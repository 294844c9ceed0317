/* linux_memory.c - Linux under the tracer: pages, and files in memory. */
#include "wrap/port/linux.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What old headers lack (Linux, uapi/asm-generic/mman-common.h, uapi/linux/mman.h). */
#ifndef MADV_NOHUGEPAGE
#define MADV_NOHUGEPAGE 15
#endif
#ifndef MREMAP_MAYMOVE
#define MREMAP_MAYMOVE 1
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* Commands of membarrier(2), for which musl has no header (Linux, uapi/linux/membarrier.h). */
#define FENCE_PRIVATE          (1 << 3)
#define FENCE_REGISTER_PRIVATE (1 << 4)

/* What the tracer holds, so that a dump can say how much memory that is. */
struct mapping {
	_Atomic(void *) pages; /* NULL: unmapped again */
	size_t size;
};

#define MAPPINGS_PER_PAGE ((LEAKWRAP_PAGE - 2 * sizeof(void *)) / sizeof(struct mapping))

struct mapping_page {
	struct mapping_page *next;
	_Atomic size_t used; /* may count beyond the end */
	struct mapping mapping[MAPPINGS_PER_PAGE];
};

/* Without a lock: a dump maps pages, too, and may have interrupted malloc, for whose locks a fork waits that holds the
 * tracer's. */
static struct {
	struct mapping_page *_Atomic newest;
	_Atomic size_t mapped;
	size_t limit; /* 0: none */
} pages;

/* -- pages --------------------------------------------------------------------------------------- */

size_t leakwrap_page_size(void)
{
	static _Atomic size_t size;
	size_t known = atomic_load_explicit(&size, memory_order_relaxed);

	if (known == 0) {
		known = (size_t)sysconf(_SC_PAGESIZE);
		atomic_store_explicit(&size, known, memory_order_relaxed);
	}
	return known;
}

static size_t round_to_pages(size_t size)
{
	return (size + leakwrap_page_size() - 1) & ~(leakwrap_page_size() - 1);
}

/* What a system call returns that maps memory: addresses may lie in the upper half. */
static void *address_of(long mapped)
{
	return mapped < 0 && mapped > -(long)LEAKWRAP_PAGE ? NULL : (void *)mapped;
}

/* Not mmap(): a program may have its own, or wrap it in the same link, and allocate there.  mmap2(2) counts the offset in units of
 * 4096 bytes, whatever a page is. */
static void *map(size_t size, int protection, int flags, int fd, uint64_t offset)
{
#ifdef __NR_mmap2
	return address_of(leakwrap_syscall(__NR_mmap2, 0, (long)size, protection, flags, fd,
	                                   (long)(offset / 4096)));
#elif defined(__s390x__) /* where it takes a pointer to its arguments */
	const long arguments[] = {0, (long)size, protection, flags, fd, (long)offset};

	return address_of(leakwrap_syscall(__NR_mmap, (long)arguments, 0, 0, 0, 0, 0));
#else
	return address_of(
	        leakwrap_syscall(__NR_mmap, 0, (long)size, protection, flags, fd, (long)offset));
#endif
}

static void *map_anonymous(size_t size)
{
	void *mapped =
	        map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mapped) /* an older kernel without it: no harm */
		leakwrap_syscall(__NR_madvise, (long)mapped, (long)size, MADV_NOHUGEPAGE, 0, 0, 0);
	return mapped;
}

static void unmap(void *mapped, size_t size)
{
	leakwrap_syscall(__NR_munmap, (long)mapped, (long)size, 0, 0, 0, 0);
}

/* Remembers a mapping; with no memory for that it is left out of the sum, nothing worse. */
static void remember(void *mapped, size_t size)
{
	struct mapping_page *page = atomic_load(&pages.newest);
	size_t at = 0;

	while (!page || (at = atomic_fetch_add(&page->used, 1)) >= MAPPINGS_PER_PAGE) {
		struct mapping_page *fresh = map_anonymous(round_to_pages(sizeof(*fresh)));

		if (!fresh)
			return;
		fresh->next = page;
		if (atomic_compare_exchange_strong(&pages.newest, &page, fresh))
			page = fresh;
		else
			unmap(fresh, round_to_pages(sizeof(*fresh)));
	}
	page->mapping[at].size = size;
	atomic_store(&page->mapping[at].pages, mapped);
}

/* Takes SIZE bytes of what the limit allows.  Of two who come close to it at once both may be refused. */
static bool reserve_bytes(size_t size)
{
	size_t before = atomic_fetch_add(&pages.mapped, size);

	if (pages.limit == 0 || (before <= pages.limit && size <= pages.limit - before))
		return true;
	atomic_fetch_sub(&pages.mapped, size);
	return false;
}

void leakwrap_pages_limit(size_t bytes)
{
	pages.limit = bytes;
}

void *leakwrap_pages_map(size_t size)
{
	void *mapped;

	size = round_to_pages(size);
	if (!reserve_bytes(size))
		return NULL;
	mapped = map_anonymous(size);
	if (mapped)
		remember(mapped, size);
	else
		atomic_fetch_sub(&pages.mapped, size);
	return mapped;
}

void *leakwrap_pages_map_shared(size_t size)
{
	return map(round_to_pages(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void leakwrap_pages_unmap(void *mapped, size_t size)
{
	size = round_to_pages(size);
	for (struct mapping_page *page = atomic_load(&pages.newest); page; page = page->next)
		for (size_t i = 0; i < MAPPINGS_PER_PAGE; i++)
			if (atomic_load(&page->mapping[i].pages) == mapped)
				atomic_store(&page->mapping[i].pages, NULL);
	atomic_fetch_sub(&pages.mapped, size);
	unmap(mapped, size);
}

void leakwrap_pages_discard(void *start, size_t size)
{
	size = round_to_pages(size);
	/* Pages that are locked stay. */
	if (leakwrap_syscall(__NR_madvise, (long)start, (long)size, MADV_DONTNEED, 0, 0, 0) == 0)
		atomic_fetch_sub(&pages.mapped, size);
}

void *leakwrap_scratch_map(size_t size)
{
	return map_anonymous(round_to_pages(size));
}

void leakwrap_scratch_unmap(void *scratch, size_t size)
{
	unmap(scratch, round_to_pages(size));
}

static size_t resident(const char *mapped, size_t size)
{
	unsigned char present[256]; /* a byte for each page (mincore(2)) */
	size_t step = sizeof(present) * leakwrap_page_size();
	size_t bytes = 0;

	for (size_t done = 0; done < size; done += step) {
		size_t now = size - done < step ? size - done : step;
		long error = leakwrap_syscall(__NR_mincore, (long)(mapped + done), (long)now,
		                              (long)present, 0, 0, 0);

		/* What has been unmapped meanwhile takes nothing; where the call is refused it may be all. */
		if (error != 0)
			bytes += error == -ENOMEM ? 0 : now;
		for (size_t i = 0; error == 0 && i < now / leakwrap_page_size(); i++)
			bytes += (present[i] & 1) ? leakwrap_page_size() : 0;
	}
	return bytes;
}

/* A 64-bit word for each page, Linux, Documentation/admin-guide/mm/pagemap.rst: bit 63, it is present; bit 62, it is
 * swapped out.  (mincore says of a page that is swapped out the same as of one that never was.) */
uint64_t leakwrap_pages_written(int asked, const void *start, size_t *page)
{
	uint64_t word[LEAKWRAP_PAGES_AT_ONCE];
	uint64_t written = 0;
	long at = (long)((uintptr_t)start / leakwrap_page_size() * sizeof(word[0]));

	*page = leakwrap_page_size();
	if (asked < 0 || leakwrap_syscall(__NR_lseek, asked, at, SEEK_SET, 0, 0, 0) != at ||
	    leakwrap_read(asked, word, sizeof(word)) != (long)sizeof(word))
		return UINT64_MAX;
	for (unsigned i = 0; i < LEAKWRAP_PAGES_AT_ONCE; i++)
		written |= (uint64_t)(word[i] >> 62 != 0) << i;
	return written;
}

/* Does ASKED tell a page that was written to from one that was not?  To a program that is emulated (qemu) it tells of the
 * emulator's pages. */
static bool is_true(int asked)
{
	size_t page = leakwrap_page_size();
	volatile char *tried = leakwrap_scratch_map(2 * page);
	uint64_t written;

	if (!tried)
		return false;
	*tried = 1;
	written = leakwrap_pages_written(asked, (const void *)tried, &page);
	leakwrap_scratch_unmap((void *)tried, 2 * page);
	return (written & 3) == 1;
}

int leakwrap_pages_ask(void)
{
	int asked = (int)leakwrap_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);

	if (asked >= 0 && !is_true(asked)) {
		leakwrap_close(asked);
		return -1;
	}
	return asked;
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

static void *detach(void *start, size_t size)
{
	return address_of(leakwrap_syscall(__NR_mremap, (long)start, (long)size, (long)size,
	                                   MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0, 0));
}

/* Does the system leave the old pages mapped?  Older emulators of processes (qemu) say so and do not.  Tried out once. */
static bool detaching_works(void)
{
	static _Atomic int known; /* 1: it does, 2: it does not */
	const size_t size = leakwrap_page_size();
	unsigned char present;
	void *page, *moved;

	if (atomic_load(&known) != 0)
		return atomic_load(&known) == 1;
	page = leakwrap_scratch_map(size);
	moved = page ? detach(page, size) : NULL;
	atomic_store(&known, moved && leakwrap_syscall(__NR_mincore, (long)page, (long)size,
	                                               (long)&present, 0, 0, 0) == 0
	                             ? 1
	                             : 2);
	if (moved)
		leakwrap_scratch_unmap(moved, size);
	if (page && (!moved || atomic_load(&known) == 1))
		leakwrap_scratch_unmap(page, size);
	return atomic_load(&known) == 1;
}

/* Linux 5.7: the page tables' entries are moved, and whoever comes later faults a zero page in.  What the program has
 * locked in memory stays (msync(2), EBUSY): it would not be locked any more. */
void *leakwrap_pages_detach(void *start, size_t size)
{
	if (!detaching_works() ||
	    leakwrap_syscall(__NR_msync, (long)start, (long)size, MS_INVALIDATE, 0, 0, 0) == -EBUSY)
		return NULL;
	return detach(start, size);
}

bool leakwrap_threads_fence(void)
{
#ifdef __NR_membarrier
	if (leakwrap_syscall(__NR_membarrier, FENCE_PRIVATE, 0, 0, 0, 0, 0) == 0)
		return true;
	return leakwrap_syscall(__NR_membarrier, FENCE_REGISTER_PRIVATE, 0, 0, 0, 0, 0) == 0 &&
	       leakwrap_syscall(__NR_membarrier, FENCE_PRIVATE, 0, 0, 0, 0, 0) == 0;
#else
	return false;
#endif
}

size_t leakwrap_pages_held(void)
{
	size_t bytes = 0;

	for (struct mapping_page *page = atomic_load(&pages.newest); page; page = page->next) {
		bytes += leakwrap_page_size();
		for (size_t i = 0; i < MAPPINGS_PER_PAGE; i++) {
			const char *mapped = atomic_load(&page->mapping[i].pages);

			if (mapped)
				bytes += resident(mapped, page->mapping[i].size);
		}
	}
	return bytes;
}

/* rt_sigprocmask(2) reads the new mask before it looks at HOW: EFAULT says that the memory cannot be
 * read, EINVAL that it can, and nothing changes either way.  The mask must lie in one page. */
bool leakwrap_readable(uintptr_t address)
{
	uintptr_t aligned = address & ~(uintptr_t)(KERNEL_SIGSET_SIZE - 1);

	return leakwrap_syscall(__NR_rt_sigprocmask, -1, (long)aligned, 0, KERNEL_SIGSET_SIZE, 0, 0) ==
	       -EINVAL;
}

/* -- files --------------------------------------------------------------------------------------- */

/* mmap(2) wants whole pages: what lies before OFFSET on its page is mapped, too. */
const void *leakwrap_file_map(int fd, uint64_t offset, size_t size)
{
	size_t before = (size_t)offset & (leakwrap_page_size() - 1);
	char *mapped = map(before + size, PROT_READ, MAP_PRIVATE, fd, offset - before);

	return mapped ? mapped + before : NULL;
}

void leakwrap_file_unmap(const void *bytes, uint64_t offset, size_t size)
{
	size_t before = (size_t)offset & (leakwrap_page_size() - 1);

	unmap((char *)(uintptr_t)bytes - before, before + size);
}
