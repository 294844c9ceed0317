/* hash_tables.c - hash tables as Rust's standard library makes them: the program has a pointer to
 * the control bytes, behind the elements.  Each element leads to a block of 50 bytes. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"

enum { END_OF_PAIR = 56 };

static unsigned char *volatile tables[8];

/* Makes a table of COUNT elements of two words, one of which is free.  GROUP: as in
 * wrap/reach/interior.c.  Returns its control bytes. */
static unsigned char *new_table(size_t count, size_t group)
{
	const size_t elements = count * 2 * sizeof(void *);
	const size_t offset = (elements + group - 1) / group * group;
	char *const aligned = aligned_alloc(16, (offset + count + group + 15) / 16 * 16);
	unsigned char *const block = realloc(aligned, offset + count + group);
	unsigned char *const control = block + offset;

	memset(control, 0xff, count + group);
	for (size_t i = 0; i < count - 1; i++) {
		void *const value = calloc(1, 50);

		memcpy((char *)control - elements + i * 2 * sizeof(void *), &value, sizeof(value));
		control[i] = (unsigned char)(i * 37 % 0x80);
	}
	if (count < group)
		memcpy(control + group, control, count);
	else
		memcpy(control + count, control, group);
	return control;
}

#ifdef __x86_64__

/* Returns two equal words at the end of a block.  They are no table: with SSE2 a group has 16
 * bytes. */
static unsigned char *new_pair(void)
{
	unsigned char *const block = malloc(END_OF_PAIR);

	return memset(block + END_OF_PAIR - 16, 1, 16);
}

#endif

int main(void)
{
	tables[0] = new_table(4, 16);
	tables[1] = new_table(8, 16);
	tables[2] = new_table(16, 16);
	tables[3] = new_table(1024, 16);
#ifdef __x86_64__
	tables[4] = new_pair();
#else
	tables[4] = new_table(4, sizeof(void *));
	tables[5] = new_table(64, sizeof(void *));
#endif
	/* This one is none: a control byte is not repeated. */
	tables[6] = new_table(32, 16);
	tables[6][33] ^= 1;
	clear_stack();
	raise(SIGUSR1);
	return 0;
}
