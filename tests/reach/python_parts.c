/* python_parts.c - holds parts of objects as CPython and its extensions do: the characters of a str
 * and of a bytes object, and the values of attributes.  Other pointers into such blocks, and into
 * others, are no reason. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"
#include "tests/reach/python_types.h"

enum { WORD = sizeof(void *), KEPT = 50, LOST = 3, OTHERS = 6, TEXT = 20, VALUES = 7 };

static const struct type text = {{1, &types, 0}, "str"};

static char *volatile kept[4 * KEPT];
static char *volatile others[OTHERS];

/* Returns the characters of a new object of TYPE, behind so many WORDS. */
static char *make_text(const struct type *type, unsigned words, size_t length)
{
	char *const block = malloc(words * WORD + TEXT + 1);

	*(struct object *)(void *)block = (struct object){1, type, (intptr_t)length};
	memset(block + (size_t)words * WORD, 'x', TEXT);
	block[(size_t)words * WORD + TEXT] = '\0';
	return block + (size_t)words * WORD;
}

/* Returns the values of a new object, of which so many are IN_USE. */
static char *make_values(unsigned char in_use)
{
	const size_t word = WORD, before = (VALUES + 2 + word - 1) / word * word;
	char *const block = calloc(1, before + VALUES * word);

	block[before - 1] = (char)before;
	block[before - 2] = (char)in_use;
	return block + before;
}

static NOINLINE void make_all(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		kept[4 * i] = make_text(&text, 6, TEXT);
		kept[4 * i + 1] = make_text(&text, 5, TEXT);
		kept[4 * i + 2] = make_text(&text, 4, TEXT);
		kept[4 * i + 3] = make_values(VALUES - 1);
	}
	others[0] = make_text(&text, 6, TEXT - 1);
	others[1] = make_text(NULL, 6, TEXT);
	others[2] = make_text(&text, 7, TEXT);
	others[3] = make_text(&text, 6, TEXT) + 1;
	others[4] = make_values(VALUES + 1);
	others[5] = make_values(VALUES - 1) + WORD;
	for (unsigned i = 0; i < LOST; i++) {
		make_text(&text, 6, TEXT)[0] = 'y';
		make_values(VALUES)[0] = 1;
	}
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
