/* foreign_stack.c - foreign_stack.c in wrap/site never calls a page readable that a second stack
 * may lack.
 * sources: wrap/site/foreign_stack.c wrap/base/options.c wrap/base/loss.c wrap/port/linux*.c */
#include "wrap/site/foreign_stack.h"

#include "wrap/unwind/read_set.h"
#include "unheld_modules.h"
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#define WORD sizeof(uintptr_t)
#define PAGE ((uintptr_t)LEAKWRAP_PAGE)

enum { PC = 0x401000, WORDS_OF_PAGE = LEAKWRAP_PAGE / sizeof(uintptr_t) };

/* A shape with four positions, which lie in front of it. */
static struct {
	uint16_t position[4];
	struct leakwrap_stack_shape shape;
} shapes[4];

uint64_t leakwrap_stack_shape_owners(const struct leakwrap_stack_shape *shape)
{
	(void)shape;
	return 0;
}

/* Makes shape NUMBER, whose highest position is LAST, and returns it. */
static const struct leakwrap_stack_shape *make(unsigned number, uint16_t last)
{
	const uint16_t position[] = {1, 2, 3, last};

	memcpy(shapes[number].position, position, sizeof(position));
	shapes[number].shape = (struct leakwrap_stack_shape){
	        .extent = (uint32_t)((last + 1) * WORD), .minus_count = -4, .return_count = 4};
	return &shapes[number].shape;
}

/* Remembers the stack at SP, whose walk ended at the word at END with the value END_WORD. */
static void remember(const struct leakwrap_stack_shape *shape, uintptr_t sp,
                     leakwrap_stack_position end, uintptr_t end_word)
{
	uintptr_t pcs[] = {PC};
	struct leakwrap_read_set read_set = {
	        .sp = sp, .fp_target = 1, .end_position = end, .end_word = end_word};
	const struct leakwrap_trace trace = {.pcs = pcs, .max = 1, .read_set = &read_set};

	leakwrap_foreign_stack_remember(shape, &trace);
}

static bool is_readable(const struct leakwrap_stack_shape *shape, uintptr_t sp)
{
	return leakwrap_foreign_stack_is_readable(shape, PC, sp, sp + WORD);
}

int main(void)
{
	const struct leakwrap_stack_shape *const near = make(0, 8), *const far = make(1, 40),
	                                         *const next = make(2, WORDS_OF_PAGE);
	uintptr_t pages = (uintptr_t)mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
	                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK((void *)pages != MAP_FAILED);
	CHECK(mprotect((void *)(pages + 3 * PAGE), PAGE, PROT_NONE) == 0);

	/* All of the page of sp can be read.  No page above can, unless it was remembered. */
	CHECK(is_readable(near, pages + PAGE - 9 * WORD));
	CHECK(!is_readable(near, pages + PAGE - 10 * WORD + 1)); /* not aligned */
	CHECK(!is_readable(near, pages + PAGE - 8 * WORD));
	remember(near, pages + PAGE - 8 * WORD, LEAKWRAP_STACK_POSITION_NONE, 0);
	CHECK(is_readable(near, pages + PAGE - 8 * WORD));
	CHECK(is_readable(near, pages + 2 * PAGE - 8 * WORD));
	CHECK(is_readable(near, pages + 3 * PAGE - 8 * WORD)); /* the words below are equal */
	((uintptr_t *)(pages + 3 * PAGE))[-5] = PC;
	CHECK(!is_readable(near, pages + 3 * PAGE - 8 * WORD));

	/* At the start of a page nothing above sp is known to be readable. */
	CHECK(!is_readable(far, pages + 3 * PAGE));
	remember(far, pages + PAGE, LEAKWRAP_STACK_POSITION_NONE, 0);
	CHECK(is_readable(far, pages + 2 * PAGE));

	/* Garbage may have led to the last word.  0 is the end of a chain. */
	remember(next, pages, WORDS_OF_PAGE, PC);
	CHECK(!is_readable(next, pages));
	remember(next, pages, WORDS_OF_PAGE, 0);
	CHECK(is_readable(next, pages));

	/* A stack at the end of all addresses. */
	CHECK(!is_readable(near, 0 - 9 * WORD));
	return 0;
}
