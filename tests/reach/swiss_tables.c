/* swiss_tables.c - holds hash tables as Abseil does, by the address of their control bytes, behind
 * the number of elements that may come.  Similar blocks are no such tables. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"

enum { SIZES = 10, OTHERS = 9, EMPTY = 0x80, REMOVED = 0xfe, SENTINEL = 0xff };

static unsigned char *volatile kept[3 * SIZES];
static unsigned char *volatile others[OTHERS];

/* Makes a table with room for ROOM elements of ELEMENT bytes, whose control bytes are searched by
 * groups of GROUP.  In front of them are WORDS words. */
static unsigned char *make_table(size_t words, size_t room, size_t element, size_t group)
{
	const size_t end = words * sizeof(size_t) + room + group;
	const size_t align = element % 8 == 0 ? 8 : 1, start = (end + align - 1) / align * align;
	size_t *const block = calloc(1, (start + room * element + 7) / 8 * 8);
	unsigned char *const control = (unsigned char *)(block + words);

	block[words - 1] = room / 2 | (words == 2 ? ~(SIZE_MAX / 2) : 0);
	for (size_t i = 0; i < room; i++)
		control[i] = i % 3 == 0 ? EMPTY : i % 7 == 1 ? REMOVED : (unsigned char)(i % 0x80);
	control[room] = SENTINEL;
	memset(control + room + 1, EMPTY, group - 1);
	memcpy(control + room + 1, control, room < group - 1 ? room : group - 1);
	return control; /* cppcheck-suppress memleak ; the block is kept by its control bytes */
}

/* Makes a picture of one COLOUR, behind a number. */
static unsigned char *make_picture(uint32_t colour)
{
	size_t *const block = calloc(1, 200);
	unsigned char *const pixels = (unsigned char *)(block + 1);

	for (size_t i = 0; i < 20; i++)
		memcpy(pixels + i * sizeof(colour), &colour, sizeof(colour));
	return pixels; /* cppcheck-suppress memleak ; the block is kept by its pixels */
}

static NOINLINE void make_all(void)
{
	for (size_t i = 0; i < SIZES; i++) {
		const size_t room = ((size_t)2 << i) - 1;

		kept[3 * i] = make_table(1, room, 24, 16);
		kept[3 * i + 1] = make_table(2, room, 8, 16);
		kept[3 * i + 2] = make_table(1, room, 5, 8);
	}
	for (unsigned i = 0; i < OTHERS - 3; i++)
		others[i] = make_table(1, 31, sizeof(size_t) == 8 ? 24 : 16, 16);
	others[0][31] = EMPTY;
	others[1][2] = SENTINEL;
	others[2][32]++;
	((size_t *)others[3])[-1] = 32;
	others[4]++;
	memset(others[5], SENTINEL, 4);
	others[6] = make_table(3, 31, 24, 16);
	others[7] = make_picture(0xff405060);
	others[8] = make_picture(0xff00);
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
