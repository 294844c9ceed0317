/* failing_memory.c - uses its heap in all ways and prints the results: whether each allocation
 * succeeded, and at the end the bytes and blocks that it holds. Nothing that it prints depends on
 * addresses. failing.c decides what fails. */
#include "failing.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

enum { BLOCKS = 3000 };

static struct {
	void *block;
	size_t size;
} held[BLOCKS];

static unsigned long failures;

static NOINLINE void *allocate(unsigned kind, size_t *size)
{
	char *text = NULL;
	int length;

	errno = 0;
	switch (kind) {
	case 0:
		return malloc(*size);
	case 1:
		*size = *size / 8 * 8;
		return calloc(*size / 8, 8);
	case 2:
		return realloc(NULL, *size);
	case 3:
		text = strdup("some text");
		*size = 10;
		return text;
	default:
		length = asprintf(&text, "%zu bytes", *size);
		*size = (size_t)length + 1;
		return length < 0 ? NULL : text;
	}
}

/* Allocates from call sites that are new to the tracer. */
static NOINLINE void *descend(unsigned path, unsigned kind, size_t *size)
{
	void *block = path <= 1 ? allocate(kind, size) : NULL;

	if (path > 1 && (path & 1)) {
		block = descend(path >> 1, kind, size);
		__asm__ volatile("# odd");
	} else if (path > 1) {
		block = descend(path >> 1, kind, size);
		__asm__ volatile("# even");
	}
	return block;
}

static void resize(unsigned slot, size_t size)
{
	void *block;

	errno = 0;
	block = realloc(held[slot].block, size);
	if (!block) {
		printf("realloc %u: %d\n", slot, errno);
		failures++;
		return;
	}
	held[slot].block = block;
	held[slot].size = size;
}

int main(void)
{
	static char buffer[1 << 16];
	unsigned long bytes = 0, blocks = 0;
	uint64_t random = 1;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	failing_is_on = true;
	for (unsigned step = 0; step < 12000; step++) {
		unsigned slot, kind;

		/* Not tests/random.h: the blocks of this sequence fit into the smallest address
		 * space of failing_memory.sh, beside the tracer. */
		random = random * 6364136223846793005u + 1442695040888963407u;
		slot = (unsigned)(random >> 33) % BLOCKS;
		kind = (unsigned)(random >> 50) % 5;
		if (!held[slot].block) {
			held[slot].size = step % 500 == 0 ? 2000000 : (random >> 40) % 6000 + 1;
			held[slot].block =
			        descend((unsigned)(random >> 20) % 600 + 1, kind, &held[slot].size);
			if (!held[slot].block) {
				printf("%u of %u: %d\n", kind, slot, errno);
				failures++;
			}
		} else if (kind == 0) {
			resize(slot, (random >> 40) % 9000 + 1);
		} else {
			free(held[slot].block);
			held[slot].block = NULL;
		}
	}
	failing_is_on = false;
	failing_is_over = getenv("FAIL_TO_THE_END") == NULL;
	for (unsigned slot = 0; slot < BLOCKS; slot++)
		if (held[slot].block) {
			blocks++;
			bytes += held[slot].size;
			memset(held[slot].block, 1, held[slot].size);
		}
	printf("held %lu %lu, %lu failures\n", bytes, blocks, failures);
	return failures > 0 ? 3 : 0;
}
