/* go_table.c - Go's table of functions is read in both formats, and never outside its bounds, in
 * whatever place it is damaged or ends.
 *
 * sources: wrap/unwind/go_table.c */
#include "wrap/unwind/go_table.h"

#include <string.h>

#include "unit.h"

#define TEXT         ((uintptr_t)0x401000)
#define WORD         sizeof(uintptr_t)
#define HEADER       (8 + 8 * WORD)
#define PROGRAMS     HEADER /* pctab: 32 bytes */
#define FUNCTIONS    (HEADER + 32)
#define FUNCTION(n)  (32u + (size_t)(n)*48) /* from FUNCTIONS; behind four elements */
#define TABLE_SIZE   (FUNCTIONS + FUNCTION(3))
#define FRAME_NUMBER 3

static uint8_t made[TABLE_SIZE];

static void put(size_t at, uint64_t value, size_t size)
{
	memcpy(made + at, &value, size);
}

static void put_program(size_t at, const char *bytes)
{
	for (; *bytes; bytes++, at++)
		made[PROGRAMS + at] = (uint8_t)*bytes;
}

/* Makes a table of three functions of 0x100 bytes each.  UNIT: the size of an instruction. */
static void make(uint32_t magic, unsigned unit, size_t flags_at)
{
	memset(made, 0, sizeof made);
	put(0, magic, 4);
	put(6, unit, 1);
	put(7, WORD, 1);
	put(8, FRAME_NUMBER, WORD);
	put(8 + 2 * WORD, TEXT, WORD);
	put(8 + 6 * WORD, PROGRAMS, WORD);
	put(8 + 7 * WORD, FUNCTIONS, WORD);
	/* Size 0 for 4 instructions, 24 for 16, 0 for the rest: each change is a signed number. */
	put_program(1, "\x02\x04\x30\x10\x2f\xec\x01");
	/* Size 400 from the start. */
	put_program(12, "\xa2\x06\x80\x02");
	for (size_t i = 0; i <= FRAME_NUMBER; i++)
		put(FUNCTIONS + i * 8, i * 0x100, 4);
	for (size_t i = 0; i < FRAME_NUMBER; i++) {
		put(FUNCTIONS + i * 8 + 4, FUNCTION(i), 4);
		put(FUNCTIONS + FUNCTION(i), i * 0x100, 4);
		put(FUNCTIONS + FUNCTION(i) + 16, i == 0 ? 1 : 12, 4);
		put(FUNCTIONS + FUNCTION(i) + flags_at, i, 1);
	}
}

/* Checks what is told of the instruction at OFFSET.  SIZE -1: nothing. */
static void check_frame(const struct leakwrap_go_table *table, uintptr_t offset, int64_t size,
                        bool is_first, bool changes_sp)
{
	struct leakwrap_go_frame frame;

	CHECK(leakwrap_find_go_frame(table, TEXT + offset, &frame) == (size >= 0));
	if (size < 0)
		return;
	CHECK(frame.size == (uint32_t)size);
	CHECK(frame.is_first == is_first && frame.changes_sp == changes_sp);
}

static void check_whole(uint32_t magic, unsigned unit, size_t flags_at)
{
	struct leakwrap_go_table table;

	make(magic, unit, flags_at);
	CHECK(leakwrap_open_go_table(made, made + sizeof made, &table));
	CHECK(table.text == TEXT);
	check_frame(&table, (uintptr_t)-1, -1, false, false);
	check_frame(&table, 0, 0, false, false);
	check_frame(&table, (uintptr_t)4 * unit - 1, 0, false, false);
	check_frame(&table, (uintptr_t)4 * unit, 24, false, false);
	check_frame(&table, (uintptr_t)20 * unit - 1, 24, false, false);
	check_frame(&table, (uintptr_t)20 * unit, 0, false, false);
	check_frame(&table, 0xff, 0, false, false);
	check_frame(&table, 0x100, 400, true, false);
	check_frame(&table, 0x1ff, 400, true, false);
	check_frame(&table, 0x200, 400, false, true);
	check_frame(&table, 0x2ff, 400, false, true);
	check_frame(&table, 0x300, -1, false, false);
}

/* Asks for all functions of the table in the SIZE bytes at BYTES. */
static void ask(const uint8_t *bytes, size_t size)
{
	struct leakwrap_go_table table;
	struct leakwrap_go_frame frame;

	if (!leakwrap_open_go_table(bytes, bytes + size, &table))
		return;
	for (uintptr_t offset = 0; offset < 0x310; offset += 0x33)
		if (leakwrap_find_go_frame(&table, table.text + offset, &frame))
			CHECK(frame.size % WORD == 0);
}

/* A copy on the heap, of its own size, shows a read outside. */
static void check_damaged(uint32_t magic, size_t flags_at)
{
	uint64_t random = 1;

	make(magic, 1, flags_at);
	for (size_t size = 0; size <= sizeof made; size++) {
		uint8_t *copy = malloc(size ? size : 1);

		CHECK(copy);
		memcpy(copy, made, size);
		ask(copy, size);
		free(copy);
	}
	for (unsigned i = 0; i < (IS_SLOW ? 2000u : 100000u); i++) {
		uint8_t *copy = malloc(sizeof made);

		CHECK(copy);
		memcpy(copy, made, sizeof made);
		for (unsigned j = 0; j <= i % 4; j++)
			copy[draw_random(&random) % sizeof made] = (uint8_t)draw_random(&random);
		ask(copy, sizeof made);
		free(copy);
	}
}

int main(void)
{
	check_whole(0xfffffff0u, 1, 37);
	check_whole(0xfffffff1u, 1, 41);
	check_whole(0xfffffff1u, 4, 41);
	check_damaged(0xfffffff0u, 37);
	check_damaged(0xfffffff1u, 41);
	return 0;
}
