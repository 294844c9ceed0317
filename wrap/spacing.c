/* spacing.c - see spacing.h. */
#include "spacing.h"

#include "modules.h"

#include <features.h>
#include <stddef.h>
#include <stdint.h>

/* malloc_trim(3) is glibc's alone, from the same source file as its malloc (malloc/malloc.c), and what that is compiled to is not large.  In a
 * program with another allocator it is somewhere else, or, when the program is static, nowhere. */
#define NEAR ((uintptr_t)1 << 18)

extern int malloc_trim(size_t pad) __attribute__((weak));

bool leakwrap_blocks_lie_apart(void)
{
#ifdef __GLIBC__
	const uintptr_t one = (uintptr_t)__real_malloc, other = (uintptr_t)malloc_trim;

	return one != 0 && other != 0 && (one < other ? other - one : one - other) < NEAR;
#else
	return false;
#endif
}
