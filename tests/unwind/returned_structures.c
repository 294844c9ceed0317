/* returned_structures.c - vendor code: functions return structures, and allocate. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

struct text {
	char *at;
	int size, room, more;
};

static void *volatile kept[8];
static int count;

NOINLINE struct text make(int size)
{
	struct text text = {malloc((size_t)size), size, size, count};

	kept[count++ & 7] = text.at;
	return text;
}

NOINLINE struct text load(int size)
{
	struct text text = make(size);

	text.more += text.size;
	return text;
}

NOINLINE int parse(int size)
{
	const struct text first = load(size), second = load(size + 1);

	kept[count++ & 7] = malloc(77);
	return first.more + second.more + count;
}

/* The same through a pointer, whose function is known only when it runs. */
NOINLINE int parse_with(struct text (*function)(int), int size)
{
	const struct text first = function(size), second = function(size + 1);

	printf("%d %d\n", first.more, second.size);
	return first.more + second.more + count;
}

int main(void)
{
	return parse(1000) + parse_with(load, 1010) == 0;
}
