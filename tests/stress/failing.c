/* failing.c - decides what fails in the tests of failing memory: the tracer's mmap, and the
 * program's own allocator, which stands in front of the C library's. It is a file of its own,
 * because calls inside one object are not wrapped.
 *
 *   FAIL_MMAP=N     the tracer's Nth mmap fails (linked with --wrap=leakwrap_call_kernel)
 *   FAIL_MMAP=N+    so do all later ones, until failing_is_over
 *   FAIL_MALLOC=N   the Nth allocation of the process fails, or, with FAIL_RANDOM=SEED, one in N
 *                   at random
 *
 * Compiled with -DUNTRACED it has no tracer whose mmap could fail. */
#include "failing.h"
#include "tests/random.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#ifdef SYS_mmap2 /* 32 bits */
#undef SYS_mmap
#define SYS_mmap SYS_mmap2
#endif

bool failing_is_on, failing_is_over;

static long number_in(const char *name)
{
	const char *text = getenv(name);

	return text ? atol(text) : 0;
}

#ifndef UNTRACED
static bool map_fails_now(void)
{
	static long calls, failing = -1;
	static bool all;

	if (failing < 0) {
		const char *text = getenv("FAIL_MMAP");

		failing = number_in("FAIL_MMAP");
		all = text && strchr(text, '+');
	}
	calls++;
	return failing > 0 && (calls == failing || (all && calls > failing && !failing_is_over));
}

/* The tracer maps memory by system calls. */
long __real_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);

long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_mmap && map_fails_now())
		return -ENOMEM;
	return __real_leakwrap_call_kernel(number, a, b, c, d, e, f);
}
#endif

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
	calls++;
	if (failing == 0 ||
	    (seed ? (long)(draw_random(&random) >> 33) % failing != 0 : calls != failing))
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
