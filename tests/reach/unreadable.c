/* unreadable.c CASE - memory that /proc/self/maps calls readable and that is not, memory that it
 * would take long to read, and data that looks like an allocator's.  Loses a block of 1001 bytes
 * and keeps others.  With one more argument, asks for a dump at the end.  Prints "done".  Status 9:
 * this machine does not have what CASE needs. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "leakwrap.h"

#include "tests/clear_stack.h"
#include "tests/noinline.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

#define MIB ((size_t)1 << 20)

void *keep[8];

static int file_of(size_t size)
{
	char name[] = "/tmp/unreadable-XXXXXX";
	const int fd = mkstemp(name);

	if (fd < 0 || unlink(name) != 0 || ftruncate(fd, (off_t)size) != 0)
		exit(1);
	return fd;
}

static char *map(size_t size, int protection, int flags, int fd)
{
	char *const mapped = mmap(NULL, size, protection, flags, fd, 0);

	if (mapped == MAP_FAILED)
		exit(1);
	return mapped;
}

/* A block whose pages begin with it. */
static char *large_block(void)
{
	void *block;

	if (posix_memalign(&block, 4096, 65536) != 0)
		exit(1);
	keep[0] = block;
	return block;
}

static void guard(char *page)
{
	if (madvise(page, 4096, MADV_GUARD_INSTALL) != 0)
		exit(9);
}

/* The only pointer to a block stands in memory that the thread has closed to itself. */
static void close_by_key(void)
{
#ifdef PKEY_DISABLE_ACCESS
	const int key = pkey_alloc(0, 0);
	void **const page =
	        (void **)map(8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (key < 0)
		exit(9);
	page[0] = malloc(2002);
	if (pkey_mprotect(page, 8192, PROT_READ | PROT_WRITE, key) != 0 ||
	    pkey_set(key, PKEY_DISABLE_ACCESS) != 0)
		exit(1);
#else
	exit(9);
#endif
}

/* Whoever is the first to read a page of which userfaultfd(2) tells waits for ever: nobody answers.
 * MEMORY: a descriptor of memory, or -1 for private pages.  Of MEMORY its own pages are told, of
 * private pages those that were never written to.  FEATURES: of the descriptor that is returned. */
static int register_faults(uint64_t features, int memory)
{
#ifdef __NR_userfaultfd
	/* Linux, uapi/linux/userfaultfd.h, which not every C library's compiler finds. */
	struct {
		uint64_t api, features, ioctls;
	} api = {.api = 0xaa, .features = features};
	struct {
		uint64_t start, length, mode, ioctls;
	} range = {.length = 256 * MIB, .mode = memory < 0 ? 1 : 4};
	const int fd = (int)syscall(__NR_userfaultfd, O_CLOEXEC | (features == 0));

	range.start = (uintptr_t)map(
	        range.length, PROT_READ | PROT_WRITE,
	        memory < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, memory);
	if (fd < 0 || ioctl(fd, _IOWR(0xaa, 0x3f, api), &api) != 0 ||
	    ioctl(fd, _IOWR(0xaa, 0, range), &range) != 0)
		exit(9);
	return fd;
#else
	(void)features, (void)memory;
	exit(9);
#endif
}

/* The first page is in memory. */
static void register_minor_faults(void)
{
#ifdef __NR_memfd_create
	const int memory = (int)syscall(__NR_memfd_create, "memory", 0);

	if (memory < 0 || ftruncate(memory, 256 * MIB) != 0 || write(memory, "1", 1) != 1)
		exit(9);
	register_faults(1 << 10, memory); /* UFFD_FEATURE_MINOR_SHMEM */
#else
	exit(9);
#endif
}

static void *allocate(void *unused)
{
	free(malloc(100));
	return unused;
}

/* A thread that has ended.  The tracer has seen what its stack looks like. */
static void end_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, allocate, NULL) != 0 || pthread_join(thread, NULL) != 0)
		exit(1);
}

/* Reads the events of the descriptor at FD. */
static void *read_events(void *fd)
{
	char event[32];

	for (;;)
		if (read(*(int *)fd, event, sizeof(event)) < 0 && errno != EINTR)
			exit(1);
	return NULL;
}

/* A fork waits until another thread has read an event. */
static void register_forks(void)
{
	static int fd;
	pthread_t thread;

	end_a_thread();
	fd = register_faults(2, -1); /* UFFD_FEATURE_EVENT_FORK */
	if (pthread_create(&thread, NULL, read_events, &fd) != 0)
		exit(1);
}

/* Both at once, of two descriptors or of one. */
static void register_forks_and_minor_faults(void)
{
	register_forks();
	register_minor_faults();
}

/* Fails if a search for lost memory brings a file into memory. */
static void map_large_file(void)
{
	char *const mapped = map(512 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file_of(512 * MIB));
	struct leakwrap_kind_counters kinds;
	struct rusage used;

	mapped[0] = 1;
	if (leakwrap_get_kinds(&kinds) != 0 || getrusage(RUSAGE_CHILDREN, &used) != 0)
		exit(1);
	printf("%ld KiB\n", used.ru_maxrss);
	if (used.ru_maxrss > 100L * 1024)
		exit(2);
}

/* As CPython's usedpools: pairs of words that point two words before themselves. */
struct {
	void *kept[64];
	void *pool[64];
	void *behind;
} like_bins = {.behind = &like_bins};

static void look_like_bins(void)
{
	for (int i = 0; i < 64; i += 2)
		like_bins.pool[i] = like_bins.pool[i + 1] = &like_bins.pool[i] - 2;
	for (int i = 0; i < 64; i++)
		like_bins.kept[i] = malloc(100);
}

/* A block in static memory, beside pointers to others. */
struct {
	char pool[256];
	void *kept[8];
} variables = {.pool = "pool"};

static void use_static_pool(void)
{
	keep[0] = variables.pool;
	leakwrap_record(variables.pool, 100);
	for (int i = 0; i < 8; i++)
		variables.kept[i] = malloc(100);
}

static void run(const char *what)
{
	const int both = PROT_READ | PROT_WRITE;

	if (strcmp(what, "file_end") == 0)
		map(MIB, both, MAP_PRIVATE, file_of(5));
	else if (strcmp(what, "database") == 0)
		map(1024 * MIB, PROT_READ, MAP_SHARED, file_of(5));
	else if (strcmp(what, "over_block") == 0)
		mmap(large_block(), 65536, both, MAP_SHARED | MAP_FIXED, file_of(4096), 0);
	else if (strcmp(what, "guard") == 0)
		guard(memset(map(65536, both, MAP_PRIVATE | MAP_ANONYMOUS, -1), 1, 65536));
	else if (strcmp(what, "guard_in_block") == 0)
		guard(large_block());
	else if (strcmp(what, "key") == 0)
		close_by_key();
	else if (strcmp(what, "userfaultfd") == 0)
		register_faults(0, -1);
	else if (strcmp(what, "userfaultfd_and_threads") == 0)
		end_a_thread(), register_faults(0, -1);
	else if (strcmp(what, "minor_faults") == 0)
		register_minor_faults();
	else if (strcmp(what, "fork_events") == 0)
		register_forks();
	else if (strcmp(what, "fork_events_and_minor_faults") == 0)
		register_forks_and_minor_faults();
	else if (strcmp(what, "large_file") == 0)
		map_large_file();
	else if (strcmp(what, "like_bins") == 0)
		look_like_bins();
	else if (strcmp(what, "static_pool") == 0)
		use_static_pool();
	else
		exit(1);
}

static NOINLINE void lose(void)
{
	*(volatile char *)malloc(1001) = 1;
}

int main(int argc, char **argv)
{
	lose();
	run(argc > 1 ? argv[1] : "");
	clear_stack();
	if (argc > 2)
		raise(SIGUSR1);
	printf("done\n");
	return 0;
}
