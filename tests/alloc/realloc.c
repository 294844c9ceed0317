/* realloc.c - realloc enlarges and shrinks blocks, or fails. Each call comes again and again from
 * one stack, which the tracer then recognizes. */
#include "leakwrap.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { ROUNDS = 5 };

static void *volatile kept[ROUNDS][3];
static volatile size_t impossible = SIZE_MAX / 16 * 15;

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
		free(gone);
		free(NULL);
	}
	return 0;
}
