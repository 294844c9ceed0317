/* failing.c - what fails in the sweeps (sweep.c): the tracer's mmap and the program's own allocator, which is in
 * front of the C library's.  A file of its own: calls inside of one object are not wrapped.
 *
 *   FAIL_MMAP=N     the tracer's Nth mmap fails (linked with --wrap=mmap64); FAIL_MMAP=N+: and all after it, until
 *                   failing_is_over
 *   FAIL_MALLOC=N   the Nth allocation of the process fails, or, with FAIL_RANDOM=SEED, one in N at random
 */
#include "failing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool failing_is_on, failing_is_over;

/* As port_linux_memory.c, which asks for 64-bit offsets, refers to it. */
void *__real_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);

static long number_in(const char *name)
{
	const char *text = getenv(name);

	return text ? atol(text) : 0;
}

void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	static long calls, failing = -1;
	static bool all;

	if (failing < 0) {
		const char *text = getenv("FAIL_MMAP");

		failing = number_in("FAIL_MMAP");
		all = text && strchr(text, '+');
	}
	calls++;
	if (failing > 0 && (calls == failing || (all && calls > failing && !failing_is_over))) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap64(address, size, protection, flags, fd, offset);
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static bool fails_now(void)
{
	static long calls, failing = -1, seed;
	static uint64_t random;

	if (!failing_is_on)
		return false;
	if (failing < 0) {
		failing = number_in("FAIL_MALLOC");
		seed = number_in("FAIL_RANDOM");
		random = (uint64_t)seed;
	}
	random = random * 6364136223846793005u + 1442695040888963407u;
	calls++;
	if (failing == 0 || (seed ? (long)(random >> 33) % failing != 0 : calls != failing))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	return fails_now() ? NULL : __libc_realloc(block, size);
}
