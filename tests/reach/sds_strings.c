/* sds_strings.c - holds strings as Redis does, by the address of their characters, behind their
 * length, the room for them and the type of these numbers.  Similar blocks are no such strings. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"

enum { TYPES = 5, KEPT = 20, COPIED = 4, FALSE = 12, GRANTED = 6 };

static char *volatile kept[TYPES][KEPT];
static char *volatile copied[COPIED];
static char *volatile others[FALSE];

/* Returns a string of the type, with LENGTH characters.  ROOM is what its block has for them, and
 * CAPACITY what it says to have. */
static char *make_string(unsigned type, uint64_t length, size_t room, uint64_t capacity)
{
	const size_t width = type == 0 ? 0 : (size_t)1 << (type - 1), head = 2 * width + 1;
	char *const block = malloc(head + room + 1);
	const uint8_t short_length[2] = {(uint8_t)length, (uint8_t)capacity};
	const uint16_t length_2[2] = {(uint16_t)length, (uint16_t)capacity};
	const uint32_t length_4[2] = {(uint32_t)length, (uint32_t)capacity};
	const uint64_t length_8[2] = {length, capacity};
	const void *const numbers[TYPES] = {"", short_length, length_2, length_4, length_8};

	memcpy(block, numbers[type], 2 * width);
	memset(block + head, 'x', room + 1);
	block[head - 1] = (char)(type > 0 ? type : length << 3);
	block[head + length] = 0;
	return block + head;
}

static NOINLINE void make_all(void)
{
	for (unsigned i = 0; i < KEPT; i++) {
		kept[0][i] = make_string(0, i, i, 0);
		kept[1][i] = make_string(1, i, 200, 200 + GRANTED);
		kept[2][i] = make_string(2, 300 + i, 300 + i, 300 + i);
		kept[3][i] = make_string(3, 7000, 7000, 8000);
		kept[4][i] = make_string(4, 0, 100 + i, 100 + i);
	}
}

/* Makes strings in blocks of more bytes than they need: their originals were granted that many. */
static NOINLINE void make_copies(void)
{
	copied[0] = make_string(0, 3, 6, 0);
	copied[1] = make_string(1, 250, 316, 255);
	copied[2] = make_string(2, 65000, 81000, 65535);
	copied[3] = make_string(2, 520, 634, 520);
}

/* Makes blocks that differ from strings in one way each. */
static NOINLINE void make_others(void)
{
	others[0] = make_string(0, 10, 11, 0);
	others[0][10] = 'x';
	others[1] = make_string(1, 50, 160, 59);
	others[2] = make_string(2, 50, 60, 1000);
	others[3] = make_string(3, 60, 60, 60);
	*(uint32_t *)(others[3] - 9) = 61;
	others[4] = make_string(4, 50, 60, 60);
	others[4][50] = 'x';
	others[5] = make_string(2, 50, 60, 60);
	*(others[5] - 1) = 3;
	others[6] = make_string(0, 10, 60, 0);
	others[7] = make_string(1, 250, 400, 255);
	others[8] = make_string(0, 0, 6, 0);
	others[9] = make_string(0, 10, 14, 0);
	others[9][5] = 0;
	others[10] = make_string(0, 3, 19, 0);
	others[11] = make_string(4, 5, 14, UINT64_MAX);
}

int main(void)
{
	make_all();
	make_copies();
	make_others();
	clear_stack();
	return raise(SIGUSR1);
}
