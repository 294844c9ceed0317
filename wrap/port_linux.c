/* port_linux.c - Linux under the tracer: pages, signals, the lock, time, files.
 *
 * System calls go through syscall(2), which is not a cancellation point and takes no lock; errno is put
 * back, because the program must not see it change. */
#define _FILE_OFFSET_BITS 64 /* of files, also on 32-bit systems */
#include "port.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef LEAKWRAP_NO_getauxval
#include <sys/auxv.h>
#endif

/* What old headers lack (Linux, uapi/asm-generic/mman-common.h, uapi/linux/mman.h, uapi/linux/auxvec.h).  Descriptors are
 * not open for long. */
#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif
#ifndef MADV_NOHUGEPAGE
#define MADV_NOHUGEPAGE 15
#endif
#ifndef MREMAP_MAYMOVE
#define MREMAP_MAYMOVE 1
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef AT_SECURE
#define AT_SECURE 23
#endif
#ifndef AT_EXECFN
#define AT_EXECFN 31
#endif

/* sizeof(sigset_t) as the kernel has it (rt_sigprocmask(2), "C library/kernel differences"). */
#ifdef __mips__
#define KERNEL_SIGSET_SIZE 16
#else
#define KERNEL_SIGSET_SIZE 8
#endif

/* SIG_SETMASK, spelled without <signal.h>, whose sigset_t is not the kernel's. */
#ifdef __mips__
#define SIG_SETMASK_KERNEL 3
#else
#define SIG_SETMASK_KERNEL 2
#endif

/* Operations of futex(2), for which musl has no header: on memory that other processes do not share. */
#define WAIT_PRIVATE (0 | 128)
#define WAKE_PRIVATE (1 | 128)

/* Commands of membarrier(2), for which musl has no header (Linux, uapi/linux/membarrier.h). */
#define FENCE_PRIVATE          (1 << 3)
#define FENCE_REGISTER_PRIVATE (1 << 4)

/* The kernel's struct timespec of the calls that take one: two longs; systems that are 32-bit and newer
 * than these calls have only the ones with 64-bit time. */
#ifdef __NR_futex
struct kernel_time {
	long seconds, nanoseconds;
};
#define FUTEX           __NR_futex
#define PPOLL           __NR_ppoll
#define PSELECT         __NR_pselect6
#define RT_SIGTIMEDWAIT __NR_rt_sigtimedwait
#else
struct kernel_time {
	int64_t seconds, nanoseconds;
};
#define FUTEX           __NR_futex_time64
#define PPOLL           __NR_ppoll_time64
#define PSELECT         __NR_pselect6_time64
#define RT_SIGTIMEDWAIT __NR_rt_sigtimedwait_time64
#endif

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

/* syscall(2).  dietlibc declares that it returns an int: an address would lose its upper half. */
extern long system_call(long number, ...) __asm__("syscall");

/* The same with the kernel's convention: a negative errno value instead of errno. */
static long call(long number, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long result = system_call(number, a, b, c, d, e, f);

	if (result == -1)
		result = -errno;
	errno = saved;
	return result;
}

/* -- pages --------------------------------------------------------------------------------------- */

static size_t page_size(void)
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
	return (size + page_size() - 1) & ~(page_size() - 1);
}

static void *map_anonymous(size_t size)
{
	int saved = errno;
	void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mapped == MAP_FAILED)
		mapped = NULL;
	else
		madvise(mapped, size, MADV_NOHUGEPAGE); /* an older kernel without it: no harm */
	errno = saved;
	return mapped;
}

static void unmap(void *mapped, size_t size)
{
	int saved = errno;

	munmap(mapped, size);
	errno = saved;
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
	if (call(__NR_madvise, (long)start, (long)size, MADV_DONTNEED, 0, 0, 0) == 0)
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
	size_t step = sizeof(present) * page_size();
	size_t bytes = 0;

	for (size_t done = 0; done < size; done += step) {
		size_t now = size - done < step ? size - done : step;

		if (call(__NR_mincore, (long)(mapped + done), (long)now, (long)present, 0, 0, 0) != 0)
			continue;
		for (size_t i = 0; i < now / page_size(); i++)
			bytes += (present[i] & 1) ? page_size() : 0;
	}
	return bytes;
}

/* A 64-bit word for each page, Linux, Documentation/admin-guide/mm/pagemap.rst: bit 63, it is present; bit 62, it is
 * swapped out.  (mincore says of a page that is swapped out the same as of one that never was.) */
uint64_t leakwrap_pages_written(int asked, const void *start, size_t *page)
{
	uint64_t word[LEAKWRAP_PAGES_AT_ONCE];
	uint64_t written = 0;
	long at = (long)((uintptr_t)start / page_size() * sizeof(word[0]));

	*page = page_size();
	if (asked < 0 || call(__NR_lseek, asked, at, SEEK_SET, 0, 0, 0) != at ||
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
	size_t page = page_size();
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

	*page = page_size();
	if (size > LEAKWRAP_PAGES_AT_ONCE * *page)
		size = LEAKWRAP_PAGES_AT_ONCE * *page;
	if (call(__NR_mincore, (long)start, (long)size, (long)present, 0, 0, 0) != 0)
		return 0;
	for (size_t i = 0; i < size / *page; i++)
		bits |= (uint64_t)(present[i] & 1) << i;
	return bits;
}

static void *detach(void *start, size_t size)
{
	long moved = call(__NR_mremap, (long)start, (long)size, (long)size,
	                  MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0, 0);

	return moved < 0 && moved > -(long)LEAKWRAP_PAGE ? NULL : (void *)moved;
}

/* Does the system leave the old pages mapped?  Older emulators of processes (qemu) say so and do not.  Tried out once. */
static bool detaching_works(void)
{
	static _Atomic int known; /* 1: it does, 2: it does not */
	const size_t size = page_size();
	unsigned char present;
	void *page, *moved;

	if (atomic_load(&known) != 0)
		return atomic_load(&known) == 1;
	page = leakwrap_scratch_map(size);
	moved = page ? detach(page, size) : NULL;
	atomic_store(&known,
	             moved && call(__NR_mincore, (long)page, (long)size, (long)&present, 0, 0, 0) == 0
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
	    call(__NR_msync, (long)start, (long)size, MS_INVALIDATE, 0, 0, 0) == -EBUSY)
		return NULL;
	return detach(start, size);
}

bool leakwrap_threads_fence(void)
{
#ifdef __NR_membarrier
	if (call(__NR_membarrier, FENCE_PRIVATE, 0, 0, 0, 0, 0) == 0)
		return true;
	return call(__NR_membarrier, FENCE_REGISTER_PRIVATE, 0, 0, 0, 0, 0) == 0 &&
	       call(__NR_membarrier, FENCE_PRIVATE, 0, 0, 0, 0, 0) == 0;
#else
	return false;
#endif
}

size_t leakwrap_pages_held(void)
{
	size_t bytes = 0;

	for (struct mapping_page *page = atomic_load(&pages.newest); page; page = page->next) {
		bytes += page_size();
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

	return call(__NR_rt_sigprocmask, -1, (long)aligned, 0, KERNEL_SIGSET_SIZE, 0, 0) == -EINVAL;
}

/* -- signals ------------------------------------------------------------------------------------- */

void leakwrap_signals_block(struct leakwrap_mask *before)
{
	const struct leakwrap_mask all = {{~(uint64_t)0, ~(uint64_t)0}};

	call(__NR_rt_sigprocmask, SIG_SETMASK_KERNEL, (long)&all, (long)before, KERNEL_SIGSET_SIZE, 0,
	     0);
}

void leakwrap_signals_restore(const struct leakwrap_mask *before)
{
	call(__NR_rt_sigprocmask, SIG_SETMASK_KERNEL, (long)before, 0, KERNEL_SIGSET_SIZE, 0, 0);
}

bool leakwrap_signal_pending(int signo)
{
	struct leakwrap_mask waiting = {{0, 0}};

	call(__NR_rt_sigpending, (long)&waiting, KERNEL_SIGSET_SIZE, 0, 0, 0, 0);
	return (waiting.bits[0] >> (signo - 1) & 1) != 0;
}

/* Only looks whether the signal is there: a limit of zero does not wait (sigtimedwait(2)). */
void leakwrap_signal_discard(int signo)
{
	struct leakwrap_mask one = {{(uint64_t)1 << (signo - 1), 0}};
	const struct kernel_time no_time = {0, 0};

	call(RT_SIGTIMEDWAIT, (long)&one, 0, (long)&no_time, KERNEL_SIGSET_SIZE, 0, 0);
}

void leakwrap_signal_send(int signo)
{
	call(__NR_tgkill, leakwrap_process_id(), leakwrap_thread_id(), signo, 0, 0, 0);
}

/* -- lock ---------------------------------------------------------------------------------------- */

/* Who waits for a lock looks again after so many nanoseconds whether it is lent. */
#define LOOK_AGAIN 10000000

/* Is THREAD of this process asleep?  A fork that copies the process is not, but waits for a lock is.  The third field of
 * proc(5), /proc/pid/stat, behind the last parenthesis.  *KNOWN: that could be told. */
static bool is_asleep(int thread, bool *known)
{
	char path[48] = "/proc/self/task/", digits[12], line[128] = "";
	size_t length = strlen(path), count = 0;
	const char *behind;
	int fd;

	for (unsigned rest = (unsigned)thread; count == 0 || rest > 0; rest /= 10)
		digits[count++] = (char)('0' + rest % 10);
	while (count > 0)
		path[length++] = digits[--count];
	memcpy(path + length, "/stat", sizeof("/stat"));
	fd = (int)leakwrap_open(path, O_RDONLY | O_CLOEXEC, 0);
	length = 0;
	if (fd >= 0) {
		long got = leakwrap_read(fd, line, sizeof(line));

		leakwrap_close(fd);
		length = got > 0 ? (size_t)got : 0;
	}
	behind = memrchr(line, ')', length);
	*known = behind && behind + 2 < line + length;
	return *known && behind[2] == 'S';
}

/* Borrows the lock of a thread that is in fork, after LOOKS times that this was tried.  The thread itself needs it when something
 * that fork calls allocates, also in the child, where it has another number.  Should the fork go on all the same before it has its
 * lock back, which takes a thread that wakes after ten milliseconds in these few microseconds, the child finds a half-made
 * change. */
static bool borrow(struct leakwrap_lock *lock, unsigned looks)
{
	int thread = atomic_load(&lock->forking);
	bool known, asleep;
	uint32_t free = 0;

	if (thread == 0)
		return false;
	if (thread != leakwrap_thread_id() &&
	    !leakwrap_thread_has_ended(leakwrap_process_id(), thread)) {
		asleep = is_asleep(thread, &known);
		/* Where /proc is not to be had a fork may take two seconds. */
		if (looks == 0 || (known ? !asleep : looks < 2000000000 / LOOK_AGAIN))
			return false;
	}
	if (!atomic_compare_exchange_strong(&lock->lent, &free, 1))
		return false;
	if (atomic_load(&lock->forking) == thread)
		return true;
	atomic_store(&lock->lent, 0);
	leakwrap_wake(&lock->lent);
	return false;
}

/* 0 free, 1 held, 2 held and waited for (U. Drepper, "Futexes Are Tricky", mutex 2).  A thread that is about to fork waits for the end of
 * another one's fork: it would keep what it borrows for too long, while others need it.  Returns whether the lock is borrowed. */
static bool take(struct leakwrap_lock *lock, bool forks)
{
	_Atomic uint32_t *word = (_Atomic uint32_t *)&lock->word;
	struct leakwrap_mask before;
	uint32_t seen = 0;

	leakwrap_signals_block(&before);
	if (!atomic_compare_exchange_strong(word, &seen, 1)) {
		if (seen != 2)
			seen = atomic_exchange(word, 2);
		for (unsigned looks = 0; seen != 0; looks++) {
			if (borrow(lock, forks ? 0 : looks)) {
				lock->lent_mask = before;
				return true;
			}
			leakwrap_wait(word, 2, LOOK_AGAIN);
			seen = atomic_exchange(word, 2);
		}
	}
	lock->mask = before;
	return false;
}

void leakwrap_lock(struct leakwrap_lock *lock)
{
	take(lock, false);
}

bool leakwrap_trylock(struct leakwrap_lock *lock)
{
	_Atomic uint32_t *word = (_Atomic uint32_t *)&lock->word;
	struct leakwrap_mask before;
	uint32_t seen = 0;

	leakwrap_signals_block(&before);
	if (!atomic_compare_exchange_strong(word, &seen, 1)) {
		leakwrap_signals_restore(&before);
		return false;
	}
	lock->mask = before;
	return true;
}

void leakwrap_unlock(struct leakwrap_lock *lock)
{
	_Atomic uint32_t *word = (_Atomic uint32_t *)&lock->word;
	struct leakwrap_mask before = lock->mask;

	if (atomic_load(&lock->lent)) {
		before = lock->lent_mask;
		atomic_store(&lock->lent, 0);
		leakwrap_wake(&lock->lent);
	} else if (atomic_exchange(word, 0) == 2) {
		call(FUTEX, (long)word, WAKE_PRIVATE, 1, 0, 0, 0);
	}
	leakwrap_signals_restore(&before);
}

void leakwrap_lock_for_fork(struct leakwrap_lock *lock)
{
	/* Borrowed only of a thread that is not in this process: it does not want it back. */
	if (take(lock, true)) {
		lock->mask = lock->lent_mask;
		atomic_store(&lock->lent, 0);
	}
	atomic_store(&lock->forking, leakwrap_thread_id());
}

void leakwrap_unlock_after_fork(struct leakwrap_lock *lock, bool is_child)
{
	atomic_store(&lock->forking, 0);
	while (!is_child && atomic_load(&lock->lent))
		leakwrap_wait(&lock->lent, 1, LOOK_AGAIN);
	atomic_store(&lock->lent, 0);
	leakwrap_unlock(lock);
}

/* -- time and process ---------------------------------------------------------------------------- */

uint64_t leakwrap_time_monotonic(void)
{
	struct timespec now = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t leakwrap_time_utc(void)
{
	struct timespec now = {0, 0};

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

/* Not getpid(): some C libraries cached its answer across vfork and clone. */
int leakwrap_process_id(void)
{
	return (int)call(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

int leakwrap_thread_id(void)
{
	return (int)call(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

bool leakwrap_thread_has_ended(int process, int thread)
{
	return call(__NR_tgkill, process, thread, 0, 0, 0, 0) == -ESRCH;
}

/* What the kernel told the program at its start (getauxval(3)), two words for each. */
uintptr_t leakwrap_auxiliary(unsigned type)
{
#ifndef LEAKWRAP_NO_getauxval
	int saved = errno;
	uintptr_t value = (uintptr_t)getauxval(type);

	errno = saved;
	return value;
#else
	uintptr_t pair[2], value = 0;
	int fd = (int)leakwrap_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);

	while (fd >= 0 && leakwrap_read(fd, pair, sizeof(pair)) == (long)sizeof(pair) &&
	       pair[0] != AT_NULL)
		if (pair[0] == type)
			value = pair[1];
	if (fd >= 0)
		leakwrap_close(fd);
	return value;
#endif
}

#ifndef LEAKWRAP_NO___libc_stack_end
extern void *__libc_stack_end; /* where the kernel put the stack pointer at start; glibc's */
#endif

/* NOLINTNEXTLINE(readability-redundant-declaration) */
extern char **environ; /* not in the <unistd.h> of every C library */

/* A function in .preinit_array runs before glibc's start in a dynamic program, when nobody has told the C library of the environment
 * yet.  The kernel leaves argc on the stack, and above it the pointers of argv, NULL, and those of the environment, NULL (System V
 * ABI, AMD64 supplement, figure 3.9; all others alike). */
static char *const *environment(void)
{
#ifndef LEAKWRAP_NO___libc_stack_end
	if (!environ && __libc_stack_end) {
		const long *argc = __libc_stack_end;
		char *const *argv = (char *const *)(argc + 1);

		if (*argc >= 0 && *argc < INT_MAX && !argv[*argc])
			return argv + *argc + 1;
	}
#endif
	return environ;
}

const char *leakwrap_environment(const char *name)
{
	size_t length = strlen(name);

	for (char *const *one = environment(); one && *one; one++)
		if (strncmp(*one, name, length) == 0 && (*one)[length] == '=')
			return *one + length + 1;
	return NULL;
}

const char *leakwrap_process_started_as(void)
{
	return (const char *)leakwrap_auxiliary(AT_EXECFN);
}

void leakwrap_process_name(char *name, size_t size)
{
#ifndef LEAKWRAP_NO_program_invocation_short_name
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* dietlibc says so */
	const char *known = program_invocation_short_name;
#else
	const char *known = NULL;
#endif

	/* In a static program the first allocation comes before glibc has set it. */
	if (!known || !*known) {
		const char *path = leakwrap_process_started_as();
		const char *slash = path ? strrchr(path, '/') : NULL;

		known = slash ? slash + 1 : path ? path : "";
	}
	size_t length = strnlen(known, size - 1);

	memcpy(name, known, length);
	name[length] = '\0';
}

bool leakwrap_process_is_privileged(void)
{
	return leakwrap_auxiliary(AT_SECURE) != 0;
}

static struct kernel_time kernel_time(uint64_t nanoseconds)
{
	struct kernel_time time = {0, 0};

	time.seconds = (long)(nanoseconds / 1000000000u);
	time.nanoseconds = (long)(nanoseconds % 1000000000u);
	return time;
}

void leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	const struct kernel_time limit = kernel_time(nanoseconds);

	call(FUTEX, (long)word, WAIT_PRIVATE, (long)value, (long)&limit, 0, 0);
}

void leakwrap_wake(_Atomic uint32_t *word)
{
	call(FUTEX, (long)word, WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

/* -- files --------------------------------------------------------------------------------------- */

long leakwrap_open(const char *path, int flags, int mode)
{
#ifdef __NR_open /* older than the other */
	return call(__NR_open, (long)path, flags, mode, 0, 0, 0);
#else
	return call(__NR_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
#endif
}

long leakwrap_close(int fd)
{
	return call(__NR_close, fd, 0, 0, 0, 0, 0);
}

long leakwrap_read(int fd, void *buffer, size_t size)
{
	return call(__NR_read, fd, (long)buffer, (long)size, 0, 0, 0);
}

long leakwrap_write(int fd, const void *bytes, size_t size)
{
	return call(__NR_write, fd, (long)bytes, (long)size, 0, 0, 0);
}

long leakwrap_fcntl(int fd, int command, long argument)
{
#ifdef __NR_fcntl64
	return call(__NR_fcntl64, fd, command, argument, 0, 0, 0);
#else
	return call(__NR_fcntl, fd, command, argument, 0, 0, 0);
#endif
}

/* Where a process may open no descriptors, as sandboxes see to it, poll(2) refuses to look at one.  select(2) wants a bit for each. */
static bool select_writable(int fd, uint64_t nanoseconds)
{
	struct kernel_time limit = kernel_time(nanoseconds);
	unsigned long waited[16] = {0};
	const unsigned bits = sizeof(waited[0]) * 8, at = (unsigned)fd;

	if (at >= sizeof(waited) * 8)
		return false;
	waited[at / bits] = 1ul << at % bits;
	return call(PSELECT, fd + 1, 0, (long)waited, 0, (long)&limit, 0) == 1;
}

bool leakwrap_wait_writable(int fd, uint64_t nanoseconds)
{
	struct pollfd waited = {.fd = fd, .events = POLLOUT};
	long ready;

#ifdef __NR_poll /* older than the other */
	ready = call(__NR_poll, (long)&waited, 1, (long)(nanoseconds / 1000000), 0, 0, 0);
#else
	struct kernel_time limit = kernel_time(nanoseconds);

	ready = call(PPOLL, (long)&waited, 1, (long)&limit, 0, 0, 0);
#endif
	return ready == -EINVAL ? select_writable(fd, nanoseconds) : ready == 1;
}

bool leakwrap_file_of(int fd, struct leakwrap_file *file)
{
	int saved = errno;
	struct stat status;
	bool is_open = fstat(fd, &status) == 0;

	if (is_open) {
		file->device = status.st_dev;
		file->inode = status.st_ino;
		file->is_terminal = isatty(fd) == 1;
		file->is_pipe = S_ISFIFO(status.st_mode);
		file->is_regular = S_ISREG(status.st_mode);
		file->is_append = (leakwrap_fcntl(fd, F_GETFL, 0) & O_APPEND) != 0;
	}
	errno = saved;
	return is_open;
}

uint64_t leakwrap_file_size(int fd)
{
	int saved = errno;
	struct stat status;
	uint64_t size = fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;

	errno = saved;
	return size;
}

/* mmap(2) wants whole pages: what lies before OFFSET on its page is mapped, too. */
const void *leakwrap_file_map(int fd, uint64_t offset, size_t size)
{
	size_t before = (size_t)offset & (page_size() - 1);
	int saved = errno;
	char *mapped = mmap(NULL, before + size, PROT_READ, MAP_PRIVATE, fd, (off_t)(offset - before));

	errno = saved;
	return mapped == MAP_FAILED ? NULL : mapped + before;
}

void leakwrap_file_unmap(const void *bytes, uint64_t offset, size_t size)
{
	size_t before = (size_t)offset & (page_size() - 1);

	unmap((char *)(uintptr_t)bytes - before, before + size);
}
