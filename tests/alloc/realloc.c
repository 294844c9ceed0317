/* realloc.c - realloc enlarges and shrinks blocks, or fails. Each call comes again and again from
 * one stack, which the tracer then recognizes. */
#include "leakwrap.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

enum { ROUNDS = 5 };

static void *volatile kept[ROUNDS][4];
static volatile size_t impossible = SIZE_MAX / 16 * 15, nothing = 0;

static NOINLINE void *make(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" : "+r"(block));
	return block;
}

static NOINLINE void *resize(void *block, size_t size)
{
	block = realloc(block, size);
	__asm__ volatile("" : "+r"(block));
	return block;
}

static NOINLINE void *make_hidden(void)
{
	void *block;

	leakwrap_disable();
	block = make(70);
	leakwrap_enable();
	return block;
}

/* Makes every call of resize at one place, so that the blocks alone differ. */
static NOINLINE void *resized(unsigned step, void *block)
{
	const size_t sizes[] = {100, impossible, 200, 100000, 90, 20};

	return resize(block, sizes[step]);
}

static NOINLINE void *make_other(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" : "+r"(block));
	return block;
}

/* A block that is resized while the thread is disabled keeps its call site. */
static NOINLINE void *resized_while_disabled(void)
{
	void *block = make_other(40), *now;

	leakwrap_disable();
	now = resize(block, 120);
	leakwrap_enable();
	return now;
}

/* A block may be freed after a failed realloc. */
static NOINLINE void free_after_failure(void)
{
	void *block = make(30);

	if (!resize(block, impossible))
		free(block);
}

/* A realloc to no bytes frees the block or makes it small, whatever errno is before.  It may fail,
 * and leave the block as it was. */
static NOINLINE void resize_to_nothing(void)
{
	static void *volatile blocks[2];

	for (int i = 0; i < 2; i++) {
		blocks[i] = make_other(7);
		errno = i == 0 ? ENOMEM : 77;
		blocks[i] = resize(blocks[i], nothing);
		if (blocks[i])
			free(blocks[i]);
		else if (i == 0 && errno != ENOMEM)
			exit(1);
	}
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *larger = make(50), *same = make(60), *hidden = make_hidden(),
		     *back = make(80), *gone = make(10);

		for (unsigned step = 0; step < 6; step++) {
			void **block =
			        (void **[]){&larger, &same, &hidden, &back, &back, &gone}[step];
			void *now = resized(step, *block);

			if (!now && (step != 1 || errno != ENOMEM))
				return 1;
			if (now)
				*block = now;
		}
		kept[i][0] = larger;
		kept[i][1] = same;
		kept[i][2] = back;
		kept[i][3] = resized_while_disabled();
		free_after_failure();
		resize_to_nothing();
		free(gone);
		free(NULL);
	}
	return 0;
}
