/* linux_memory.c - the Linux port: pages, and files in memory. */
#include "wrap/port/linux.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Constants that old headers lack (Linux, uapi/asm-generic/mman-common.h, uapi/linux/mman.h). */
#ifndef MADV_NOHUGEPAGE
#define MADV_NOHUGEPAGE 15
#endif
#ifndef MREMAP_MAYMOVE
#define MREMAP_MAYMOVE 1
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* MEMBARRIER_CMD_PRIVATE_EXPEDITED and its registration (membarrier(2); Linux,
 * uapi/linux/membarrier.h).  musl has no header for them. */
#define FENCE_PRIVATE          (1 << 3)
#define FENCE_REGISTER_PRIVATE (1 << 4)

/* How much of a mapping is touched. */
enum mapping_kind { DENSE, ONE_OF_FEW, ONE_OF_MANY };

/* A mapping of the tracer.  Recorded so that a dump can report the memory that it takes. */
struct mapping {
	/* NULL: the record was never used, or is being written.  UNMAPPED: it can be used again. */
	_Atomic(void *) pages;
	_Atomic size_t size;
	_Atomic(enum mapping_kind) kind;
};

#define UNMAPPED          ((void *)1)

#define MAPPINGS_PER_PAGE ((LEAKWRAP_PAGE - 2 * sizeof(void *)) / sizeof(struct mapping))

struct mapping_page {
	struct mapping_page *next;
	_Atomic size_t used; /* may exceed the array's size */
	struct mapping mapping[MAPPINGS_PER_PAGE];
};

/* Lock-free, because a dump maps pages, too.  It may have interrupted malloc.  A fork that holds
 * the tracer's lock may be waiting for malloc's locks. */
static struct {
	struct mapping_page *_Atomic newest;
	_Atomic size_t old_records; /* records of mappings that have been unmapped */
	_Atomic size_t mapped;
	_Atomic size_t unused;    /* of MAPPED: see count_unused */
	_Atomic unsigned refused; /* mappings since one was granted */
	size_t limit;             /* 0: none */
} pages;

/* -- pages ------------------------------------------------------------------------------------- */

size_t leakwrap_page_size(void)
{
	static _Atomic size_t size;
	size_t value = atomic_load_explicit(&size, memory_order_relaxed);

	if (value == 0) {
		value = (size_t)sysconf(_SC_PAGESIZE);
		atomic_store_explicit(&size, value, memory_order_relaxed);
	}
	return value;
}

static size_t round_to_pages(size_t size)
{
	return (size + leakwrap_page_size() - 1) & ~(leakwrap_page_size() - 1);
}

/* Converts the result of a system call that maps memory.  Returns NULL for an error.  A valid
 * address may be negative: it may lie in the upper half. */
static void *mapped_address(long mapped)
{
	return mapped < 0 && mapped > -(long)LEAKWRAP_PAGE ? NULL : (void *)mapped;
}

/* Maps memory with a system call.  A program may define mmap(), or wrap it in the same link, and
 * allocate there.  mmap2(2) counts the offset in units of 4096 bytes, whatever the page size is. */
static void *map_at(void *at, size_t size, int protection, int flags, int fd, uint64_t offset)
{
#ifdef __NR_mmap2
	return mapped_address(leakwrap_syscall(__NR_mmap2, (long)at, (long)size, protection, flags,
	                                       fd, (long)(offset / 4096)));
#elif defined(__s390x__) /* mmap(2) takes a pointer to its arguments */
	const long arguments[] = {(long)at, (long)size, protection, flags, fd, (long)offset};

	return mapped_address(leakwrap_syscall(__NR_mmap, (long)arguments, 0, 0, 0, 0, 0));
#else
	return mapped_address(leakwrap_syscall(__NR_mmap, (long)at, (long)size, protection, flags,
	                                       fd, (long)offset));
#endif
}

static void *map(size_t size, int protection, int flags, int fd, uint64_t offset)
{
	return map_at(NULL, size, protection, flags, fd, offset);
}

/* Returns whether the memory is limited that the process may lock. */
static bool is_locking_limited(void)
{
#ifdef __NR_prlimit64
	uint64_t limit[2] = {0}; /* struct rlimit64 (prlimit(2)): the soft limit, the hard limit */

	return leakwrap_syscall(__NR_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)limit, 0, 0) == 0 &&
	       limit[0] != UINT64_MAX;
#else
	return false;
#endif
}

/* Unlocks the fresh pages at MAPPED and drops their content, if the program has locked its future
 * pages in memory (mlockall(2)) but may lock only so many.  They are the program's to use.  The
 * kernel does not discard locked pages: so madvise fails. */
static void unlock_if_limited(void *mapped, size_t size)
{
	const long at = (long)mapped;

	if (leakwrap_syscall(__NR_madvise, at, (long)size, MADV_DONTNEED, 0, 0, 0) != -EINVAL ||
	    !is_locking_limited() ||
	    leakwrap_syscall(__NR_munlock, at, (long)size, 0, 0, 0, 0) != 0)
		return;
	leakwrap_syscall(__NR_madvise, at, (long)size, MADV_DONTNEED, 0, 0, 0);
}

static void *map_anonymous(size_t size)
{
	void *mapped = map(size, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mapped) { /* older kernels refuse it, which does no harm */
		leakwrap_syscall(__NR_madvise, (long)mapped, (long)size, MADV_NOHUGEPAGE, 0, 0, 0);
		unlock_if_limited(mapped, size);
	}
	return mapped;
}

static void unmap(void *mapped, size_t size)
{
	leakwrap_syscall(__NR_munmap, (long)mapped, (long)size, 0, 0, 0, 0);
}

/* Takes the record of a mapping that has been unmapped.  Returns NULL if there is none. */
static struct mapping *take_old_record(void)
{
	struct mapping_page *page = atomic_load(&pages.newest);

	for (; page && atomic_load(&pages.old_records) > 0; page = page->next)
		for (size_t i = 0; i < MAPPINGS_PER_PAGE; i++) {
			void *before = UNMAPPED;

			if (!atomic_compare_exchange_strong(&page->mapping[i].pages, &before, NULL))
				continue;
			atomic_fetch_sub(&pages.old_records, 1);
			return &page->mapping[i];
		}
	return NULL;
}

/* Takes a record that was never used.  Returns NULL if there is no memory.  A page of records
 * counts against the limit, but is not refused. */
static struct mapping *take_new_record(void)
{
	const size_t size = round_to_pages(sizeof(struct mapping_page));
	struct mapping_page *page = atomic_load(&pages.newest);
	size_t at = 0;

	while (!page || (at = atomic_fetch_add(&page->used, 1)) >= MAPPINGS_PER_PAGE) {
		struct mapping_page *fresh = map_anonymous(size);

		if (!fresh)
			return NULL;
		fresh->next = page;
		if (atomic_compare_exchange_strong(&pages.newest, &page, fresh)) {
			page = fresh;
			atomic_fetch_add(&pages.mapped, size);
		} else {
			unmap(fresh, size);
		}
	}
	return &page->mapping[at];
}

/* Records a mapping.  If memory for the record is short, the mapping is missing from the sum.  New
 * records have the order in which they were taken: see count_unused. */
static void record_mapping(void *mapped, size_t size, enum mapping_kind kind)
{
	struct mapping *mapping = kind == DENSE ? take_old_record() : NULL;

	if (!mapping)
		mapping = take_new_record();
	if (!mapping)
		return;
	atomic_store(&mapping->size, size);
	atomic_store(&mapping->kind, kind);
	atomic_store(&mapping->pages, mapped);
}

/* Returns the pages of MAPPING and sets *SIZE.  Returns NULL if there are none. */
static char *pages_of(const struct mapping *mapping, size_t *size)
{
	void *const mapped = atomic_load(&mapping->pages);

	*size = atomic_load(&mapping->size);
	/* The record may be used for another mapping meanwhile. */
	return mapped != UNMAPPED && atomic_load(&mapping->pages) == mapped ? mapped : NULL;
}

/* Returns how many of SIZE bytes at MAPPED are in memory. */
static size_t resident_bytes(const char *mapped, size_t size)
{
	unsigned char present[256]; /* one byte per page (mincore(2)) */
	size_t step = sizeof(present) * leakwrap_page_size();
	size_t bytes = 0;

	for (size_t done = 0; done < size; done += step) {
		size_t now = size - done < step ? size - done : step;
		long error = leakwrap_syscall(__NR_mincore, (long)(mapped + done), (long)now,
		                              (long)present, 0, 0, 0);

		/* A range that has been unmapped meanwhile takes no memory.  If the kernel refuses
		 * the call, count all. */
		if (error != 0)
			bytes += error == -ENOMEM ? 0 : now;
		for (size_t i = 0; error == 0 && i < now / leakwrap_page_size(); i++)
			bytes += (present[i] & 1) ? leakwrap_page_size() : 0;
	}
	return bytes;
}

/* Returns how many of SIZE bytes that are not in memory do not count: the table is sparse. */
static size_t not_counted(size_t size)
{
	return size - size / 8;
}

/* Returns how many mapped bytes do not count.  The newest table of many counts as a whole: it is
 * about to be used. */
static size_t count_unused(void)
{
	size_t unused = 0;
	bool is_newest = true;

	for (struct mapping_page *page = atomic_load(&pages.newest); page; page = page->next)
		for (size_t i = MAPPINGS_PER_PAGE; i-- > 0;) {
			const enum mapping_kind kind = atomic_load(&page->mapping[i].kind);
			size_t size;
			const char *mapped = pages_of(&page->mapping[i], &size);

			if (!mapped || kind == DENSE)
				continue;
			if (kind == ONE_OF_FEW || !is_newest)
				unused += size - resident_bytes(mapped, size);
			is_newest &= kind == ONE_OF_FEW;
		}
	return not_counted(unused);
}

static void recount_unused(void)
{
	atomic_store(&pages.unused, count_unused());
}

/* Returns whether SIZE bytes more than BEFORE are within the limit. */
static bool is_within_limit(size_t before, size_t size)
{
	const size_t unused = atomic_load(&pages.unused);
	const size_t used = before > unused ? before - unused : 0;

	return used <= pages.limit && size <= pages.limit - used;
}

/* At the limit, the pages in memory are counted at the 1st, 2nd, 4th, 8th ... mapping, and then at
 * each of this number: counting takes longer than an allocation. */
#define COUNT_EVERY 4096u

static bool is_count_due(void)
{
	const unsigned refused = atomic_fetch_add(&pages.refused, 1) + 1;

	return (refused & (refused - 1)) == 0 || refused % COUNT_EVERY == 0;
}

/* Adds SIZE bytes to those that are mapped, and COUNTED of them to those that count against the
 * limit.  Returns false and adds nothing if they exceed the limit.  If two threads come close to
 * the limit at once, both may fail. */
static bool reserve_bytes(size_t size, size_t counted)
{
	const size_t before = atomic_fetch_add(&pages.mapped, size);

	if (pages.limit != 0 && !is_within_limit(before, counted)) {
		if (is_count_due())
			recount_unused();
		if (!is_within_limit(before, counted)) {
			atomic_fetch_sub(&pages.mapped, size);
			return false;
		}
		atomic_store(&pages.refused, 0);
	}
	atomic_fetch_add(&pages.unused, size - counted);
	return true;
}

void leakwrap_pages_limit(size_t bytes)
{
	pages.limit = bytes;
}

/* Corrects pages.unused for a table of KIND that could not be mapped, or was unmapped.  Counts
 * anew: the share of that table is not known, since another thread may have counted meanwhile.  If
 * too much were subtracted, the sum could fall below 0, which would lift the limit. */
static void forget_unused(enum mapping_kind kind)
{
	if (kind != DENSE && pages.limit != 0)
		recount_unused();
}

static void *map_pages(size_t size, enum mapping_kind kind)
{
	void *mapped;

	size = round_to_pages(size);
	if (!reserve_bytes(size, kind == ONE_OF_FEW ? size - not_counted(size) : size))
		return NULL;
	mapped = map_anonymous(size);
	if (mapped) {
		record_mapping(mapped, size, kind);
	} else {
		atomic_fetch_sub(&pages.mapped, size);
		forget_unused(kind);
	}
	return mapped;
}

void *leakwrap_pages_map(size_t size)
{
	return map_pages(size, DENSE);
}

void *leakwrap_pages_map_sparse(size_t size, bool is_one_of_few)
{
	return map_pages(size, is_one_of_few ? ONE_OF_FEW : ONE_OF_MANY);
}

/* Maps all pages without access, then the stack over all of them but the lowest.  mprotect(2) may
 * be refused where mmap(2) is not. */
void *leakwrap_stack_map(size_t size)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	const size_t guard = leakwrap_page_size();
	char *guarded, *stack = NULL;

	size = round_to_pages(size);
	if (!reserve_bytes(size, size))
		return NULL;
	guarded = map(guard + size, PROT_NONE, flags, -1, 0);
	if (guarded)
		stack = map_at(guarded + guard, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1,
		               0);
	if (stack) {
		record_mapping(stack, size, DENSE);
	} else {
		if (guarded)
			unmap(guarded, guard + size);
		atomic_fetch_sub(&pages.mapped, size);
	}
	return stack;
}

void *leakwrap_pages_map_shared(size_t size)
{
	return map(round_to_pages(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void leakwrap_pages_unmap(void *mapped, size_t size)
{
	enum mapping_kind kind = DENSE;

	size = round_to_pages(size);
	for (struct mapping_page *page = atomic_load(&pages.newest); page; page = page->next)
		for (size_t i = 0; i < MAPPINGS_PER_PAGE; i++)
			if (atomic_load(&page->mapping[i].pages) == mapped) {
				kind = atomic_load(&page->mapping[i].kind);
				atomic_fetch_add(&pages.old_records, 1);
				atomic_store(&page->mapping[i].pages, UNMAPPED);
			}
	atomic_fetch_sub(&pages.mapped, size);
	forget_unused(kind);
	unmap(mapped, size);
}

/* The kernel refuses locked pages: they stay. */
bool leakwrap_pages_empty(void *start, size_t size)
{
	return leakwrap_syscall(__NR_madvise, (long)start, (long)size, MADV_DONTNEED, 0, 0, 0) == 0;
}

void leakwrap_pages_discard(void *start, size_t size)
{
	size = round_to_pages(size);
	if (leakwrap_pages_empty(start, size))
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

bool leakwrap_pages_replace(uintptr_t start, uintptr_t end)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;

	return map_at((void *)start, end - start, PROT_READ, flags, -1, 0) != NULL;
}

/* Key 0 is of all memory that has no other, and open. */
bool leakwrap_pages_open(uintptr_t start, uintptr_t end)
{
#ifdef __NR_pkey_mprotect
	return leakwrap_syscall(__NR_pkey_mprotect, (long)start, (long)(end - start), PROT_READ, 0,
	                        0, 0) == 0;
#else
	(void)start, (void)end;
	return false;
#endif
}

static void *move_pages(void *start, size_t size)
{
	return mapped_address(leakwrap_syscall(__NR_mremap, (long)start, (long)size, (long)size,
	                                       MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0, 0));
}

/* Returns whether mremap with MREMAP_DONTUNMAP leaves the old pages mapped.  Older emulators of
 * processes (qemu) report success and unmap them.  Tries it once. */
static bool is_detaching_usable(void)
{
	static _Atomic int result; /* 0: not tried, 1: works, 2: fails */
	const size_t size = leakwrap_page_size();
	unsigned char present;
	void *page, *moved;

	if (atomic_load(&result) != 0)
		return atomic_load(&result) == 1;
	page = leakwrap_scratch_map(size);
	moved = page ? move_pages(page, size) : NULL;
	atomic_store(&result, moved && leakwrap_syscall(__NR_mincore, (long)page, (long)size,
	                                                (long)&present, 0, 0, 0) == 0
	                              ? 1
	                              : 2);
	if (moved)
		leakwrap_scratch_unmap(moved, size);
	if (page && (!moved || atomic_load(&result) == 1))
		leakwrap_scratch_unmap(page, size);
	return atomic_load(&result) == 1;
}

/* Moves the page table entries (Linux 5.7).  A later access to the old pages faults a zero page
 * in.  Leaves pages alone that the program has locked in memory (msync(2), EBUSY): they would lose
 * the lock. */
void *leakwrap_pages_detach(void *start, size_t size)
{
	if (!is_detaching_usable() ||
	    leakwrap_syscall(__NR_msync, (long)start, (long)size, MS_INVALIDATE, 0, 0, 0) == -EBUSY)
		return NULL;
	return move_pages(start, size);
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
			size_t size;
			const char *mapped = pages_of(&page->mapping[i], &size);

			if (mapped)
				bytes += resident_bytes(mapped, size);
		}
	}
	return bytes;
}

void leakwrap_pages_each(void (*visit)(void *context, uintptr_t start, uintptr_t end),
                         void *context)
{
	for (struct mapping_page *page = atomic_load(&pages.newest); page; page = page->next) {
		visit(context, (uintptr_t)page,
		      (uintptr_t)page + round_to_pages(sizeof(struct mapping_page)));
		for (size_t i = 0; i < MAPPINGS_PER_PAGE; i++) {
			size_t size;
			char *mapped = pages_of(&page->mapping[i], &size);

			if (mapped)
				visit(context, (uintptr_t)mapped, (uintptr_t)mapped + size);
		}
	}
}

/* Returns the error of a system call that reads the byte at ADDRESS.
 *
 * rt_sigprocmask(2) reads the new mask before it checks HOW, and HOW is invalid here.  EFAULT: the
 * memory cannot be read.  EINVAL: it can.  Nothing changes either way.  The mask must lie in one
 * page. */
static long try_to_read(uintptr_t address)
{
	const uintptr_t aligned = address & ~(uintptr_t)(KERNEL_SIGSET_SIZE - 1);

	return leakwrap_syscall(__NR_rt_sigprocmask, -1, (long)aligned, 0, KERNEL_SIGSET_SIZE, 0,
	                        0);
}

bool leakwrap_readable(uintptr_t address)
{
	return try_to_read(address) == -EINVAL;
}

bool leakwrap_is_unreadable(uintptr_t address)
{
	return try_to_read(address) == -EFAULT;
}

/* -- files ------------------------------------------------------------------------------------- */

/* mmap(2) maps whole pages, so the bytes before OFFSET on its page are mapped, too. */
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
