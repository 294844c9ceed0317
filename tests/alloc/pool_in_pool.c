/* A pool whose resize calls its own allocation and release.  With POOL_RESIZE this is the resize,
 * with POOL the rest of the pool, else the program. */
#include <stdlib.h>
#include <string.h>

void *pool_take(size_t size);
void *pool_resize(void *part, size_t size);
void pool_give(void *part);

#if defined(POOL_RESIZE)

void *pool_resize(void *part, size_t size)
{
	void *const larger = pool_take(size);

	memcpy(larger, part, 100);
	pool_give(part);
	return larger;
}

#elif defined(POOL)

void *pool_take(size_t size)
{
	return (char *)malloc(size + 16) + 16;
}

void pool_give(void *part)
{
	free((char *)part - 16);
}

#else

static void *kept[100];

static __attribute__((noinline)) void fill(void)
{
	for (size_t i = 0; i < 100; i++)
		kept[i] = pool_resize(pool_take(100), 200 + i % 2 * 5000);
}

int main(void)
{
	fill();
	return kept[99] == NULL;
}

#endif
