/* mpv_blocks.c - holds blocks as mpv does: the program has pointers behind the headers of its
 * allocator, in builds with checks, also to the end of a block that has a header alone.  Other
 * pointers lead behind headers that are none, and to the end of a block of zeros. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { MARK = 0xd3adb3ef, BLOCKS = 100, SIZE = 200, OTHERS = 3 };

/* Like struct ta_header of mpv 0.35 (ta/ta.c). */
struct header {
	size_t size;
	struct header *previous, *next, *child, *parent;
	void (*destructor)(void *);
	unsigned mark;
	struct header *next_of_all, *previous_of_all;
	const char *name;
};

/* Like that of mpv 0.29. */
struct old_header {
	size_t size;
	struct old_header *previous, *next;
	void *more;
	unsigned mark;
	struct old_header *next_of_all, *previous_of_all;
	const char *name;
};

static struct {
	void *volatile behind[BLOCKS], *volatile old[BLOCKS], *volatile empty;
	void *volatile others[OTHERS];
} kept;

static NOINLINE void *make(size_t size, size_t said, unsigned mark)
{
	struct header *const made = calloc(1, sizeof(*made) + size);

	made->size = said;
	made->mark = mark;
	made->name = "a name";
	return made + 1;
}

static NOINLINE void *make_old(size_t size)
{
	struct old_header *const made = calloc(1, sizeof(*made) + size);

	made->size = size;
	made->mark = MARK;
	return made + 1;
}

/* Makes blocks that are none of mpv's: one has another size, and one is held by a pointer into its
 * rest.  A block of zeros has the size of a header alone. */
static NOINLINE void make_others(void)
{
	kept.others[0] = make(SIZE, SIZE - 1, MARK);
	kept.others[1] = (char *)make(SIZE, SIZE, MARK) + 2 * sizeof(void *);
	kept.others[2] = make(0, 0, 0);
}

int main(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		kept.behind[i] = make((size_t)SIZE + i, (size_t)SIZE + i, MARK);
		kept.old[i] = make_old((size_t)SIZE + i);
	}
	kept.empty = make(0, 0, MARK);
	make_others();
	clear_stack();
	return raise(SIGUSR1);
}
