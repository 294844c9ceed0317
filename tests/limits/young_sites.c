/* young_sites.c - keeps blocks at stacks that hardly come twice, among many that are freed.
 *
 * The size of a kept block tells its stack: 1000 bytes, plus 20 for each call of a function whose
 * name begins with "grow", plus the number of the innermost of them.  Dumps to standard error:
 *
 *   1  200 blocks of the main thread, while another thread allocates and frees
 *   2  100 blocks more from before a mark, and 50 from after it
 *   1  at the exit of a forked child, which keeps 40 blocks of its own and inherits 370
 *   3  at exit, after 40 blocks more and a realloc of 110 blocks to 1500 bytes in resize_one */
#include "leakwrap.h"
#include "tests/limits/endless.h"
#include "tests/noinline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT_MAX = 410, DEPTH_MAX = 12 };

typedef void grow(unsigned depth, unsigned calls, uint64_t path, void **keep);

static grow *const growers[5];

/* Inlined into each function: allocates, goes deeper, frees.  The innermost keeps a block in *KEEP,
 * if KEEP is not NULL. */
static inline __attribute__((always_inline)) void node(unsigned number, unsigned depth,
                                                       unsigned calls, uint64_t path, void **keep)
{
	void *block = malloc(20);

	if (depth > 0)
		growers[path % 5](depth - 1, calls + 1, path / 5, keep);
	else if (keep)
		*keep = malloc(1000 + 20 * (calls + 1) + number);
	free(block);
}

#define GROWER(number)                                                                    \
	static NOINLINE void grow_##number(unsigned depth, unsigned calls, uint64_t path, \
	                                   void **keep)                                   \
	{                                                                                 \
		node(number, depth, calls, path, keep);                                   \
		__asm__ volatile("# " #number);                                           \
	}

GROWER(0)
GROWER(1)
GROWER(2)
GROWER(3)
GROWER(4)

static grow *const growers[5] = {grow_0, grow_1, grow_2, grow_3, grow_4};

static void *kept[KEPT_MAX];

static void grow_somewhere(uint64_t path, void **keep)
{
	growers[path % 5]((unsigned)(path >> 32) % DEPTH_MAX, 0, path / 5, keep);
}

/* Keeps COUNT blocks from kept[FIRST] on, each in the last of TREES trees. */
static void keep_some(unsigned first, unsigned count, unsigned trees)
{
	for (unsigned i = 0; i < trees * count; i++)
		grow_somewhere(next_random(),
		               i % trees == trees - 1 ? &kept[first + i / trees] : NULL);
}

static _Atomic bool is_done;

static void *grow_and_free(void *unused)
{
	for (uint64_t path = 1; !is_done; path = path * 0x5851f42d4c957f2du + 0x14057b7ef767814fu)
		grow_somewhere(path >> 16 | path << 48, NULL);
	return unused;
}

static NOINLINE void *resize_one(void *block, size_t size)
{
	void *moved = realloc(block, size);

	__asm__ volatile("" ::: "memory");
	return moved;
}

int main(void)
{
	pthread_t thread;
	pid_t child;

	if (pthread_create(&thread, NULL, grow_and_free, NULL) != 0)
		return 1;
	keep_some(0, 200, 100);
	if (leakwrap_dump(2) != 0)
		return 2;
	keep_some(200, 100, 1);
	if (leakwrap_mark() != 0)
		return 3;
	keep_some(300, 50, 1);
	if (leakwrap_dump(2) != 0)
		return 4;
	is_done = true;
	pthread_join(thread, NULL);
	keep_some(350, 20, 1);
	child = fork();
	if (child == 0) {
		keep_some(370, 40, 1);
		exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		return 5;
	keep_some(370, 40, 1);
	for (unsigned i = 300; i < 410; i++)
		kept[i] = resize_one(kept[i], 1500);
	return 0;
}
