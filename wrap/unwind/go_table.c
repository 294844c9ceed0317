/* go_table.c - see go_table.h. */
#include "wrap/unwind/go_table.h"

#include "wrap/unwind/dwarf_reader.h"

/* The first word of the header. */
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

/* The words of the header.  In front of them stand the magic number, two bytes of zeros, the unit
 * and the size of a word. */
enum {
	WORD_FUNCTION_COUNT,
	WORD_FILE_COUNT,
	WORD_TEXT,
	WORD_NAMES,
	WORD_UNITS,
	WORD_FILES,
	WORD_PROGRAMS,
	WORD_FUNCTIONS,
	HEADER_WORDS,
};

/* Offsets in struct _func. */
#define FUNC_SIZES      16u /* pcsp: its program in pctab */
#define FUNC_FLAGS_1_18 37u
#define FUNC_FLAGS_1_20 41u

/* Bits of the flags (cmd/internal/objabi/funcid.go). */
#define FLAG_FIRST      0x1u /* TOPFRAME */
#define FLAG_CHANGES_SP 0x2u /* SPWRITE */

/* An element of the list of functions has the offsets of the code and of its struct _func. */
#define ELEMENT_SIZE 8u

/* Go's stacks are smaller. */
#define FRAME_MAX ((int64_t)1 << 30)

static struct leakwrap_cursor cursor_at(const struct leakwrap_go_table *table, uint64_t offset)
{
	const size_t size = (size_t)(table->end - table->start);

	if (offset > size)
		offset = size;
	return (struct leakwrap_cursor){.at = table->start + offset, .end = table->end};
}

bool leakwrap_open_go_table(const uint8_t *start, const uint8_t *end,
                            struct leakwrap_go_table *table)
{
	struct leakwrap_cursor c = {.at = start, .end = end};
	uint64_t word[HEADER_WORDS];
	const uint32_t magic = (uint32_t)leakwrap_read_uint(&c, 4);

	if (magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return false;
	if (leakwrap_read_uint(&c, 2) != 0)
		return false;
	*table = (struct leakwrap_go_table){
	        .start = start,
	        .end = end,
	        .flags = magic == MAGIC_1_18 ? FUNC_FLAGS_1_18 : FUNC_FLAGS_1_20,
	        .unit = (unsigned)leakwrap_read_uint(&c, 1),
	};
	if (leakwrap_read_uint(&c, 1) != sizeof(uintptr_t))
		return false;
	for (unsigned i = 0; i < HEADER_WORDS; i++)
		word[i] = leakwrap_read_uint(&c, sizeof(uintptr_t));
	table->count = word[WORD_FUNCTION_COUNT];
	table->text = (uintptr_t)word[WORD_TEXT];
	table->programs = word[WORD_PROGRAMS];
	table->functions = word[WORD_FUNCTIONS];
	return !c.has_failed && table->count > 0 && table->functions < (uint64_t)(end - start) &&
	       table->programs < (uint64_t)(end - start) &&
	       table->count < ((uint64_t)(end - start) - table->functions) / ELEMENT_SIZE;
}

/* Returns where the code of the function NUMBER begins, as an offset from TABLE's text. */
static uint32_t start_of(const struct leakwrap_go_table *table, uint64_t number)
{
	struct leakwrap_cursor c = cursor_at(table, table->functions + number * ELEMENT_SIZE);

	return (uint32_t)leakwrap_read_uint(&c, 4);
}

/* Follows the program at C, of a function that begins at START, to the size of the frame at OFFSET.
 * A program is a list of pairs: what to add to the size, and how many units of code have that
 * size.  Returns -1 if there is none. */
static int64_t run_program(struct leakwrap_cursor *c, unsigned unit, uint64_t start,
                           uint64_t offset)
{
	int64_t size = -1;
	uint64_t at = start;

	while (!c->has_failed) {
		const uint64_t add = leakwrap_read_uleb128(c);

		if ((add == 0 && at != start) || add > 4 * (uint64_t)FRAME_MAX)
			return -1;
		size += (int64_t)(add & 1 ? ~(add >> 1) : add >> 1);
		at += leakwrap_read_uleb128(c) * unit;
		if (size < -1 || size > FRAME_MAX)
			return -1;
		if (offset < at)
			return c->has_failed ? -1 : size;
	}
	return -1;
}

bool leakwrap_find_go_frame(const struct leakwrap_go_table *table, uintptr_t pc,
                            struct leakwrap_go_frame *frame)
{
	const uint64_t offset = pc - table->text;
	uint64_t low = 0, high = table->count;
	struct leakwrap_cursor c;
	uint64_t function, program;
	unsigned flags;
	int64_t size;

	if (pc < table->text || offset < start_of(table, 0) ||
	    offset >= start_of(table, table->count))
		return false;
	/* The function is one of [LOW, HIGH). */
	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (offset < start_of(table, middle))
			high = middle;
		else
			low = middle;
	}
	c = cursor_at(table, table->functions + low * ELEMENT_SIZE + 4);
	function = table->functions + leakwrap_read_uint(&c, 4);
	c = cursor_at(table, function + FUNC_SIZES);
	program = leakwrap_read_uint(&c, 4);
	c = cursor_at(table, function + table->flags);
	flags = (unsigned)leakwrap_read_uint(&c, 1);
	if (c.has_failed || program == 0)
		return false;
	c = cursor_at(table, table->programs + program);
	size = run_program(&c, table->unit, start_of(table, low), offset);
	if (size < 0 || size % (int64_t)sizeof(uintptr_t) != 0)
		return false;
	*frame = (struct leakwrap_go_frame){
	        .size = (uint32_t)size,
	        .is_first = (flags & FLAG_FIRST) != 0,
	        .changes_sp = (flags & FLAG_CHANGES_SP) != 0,
	};
	return true;
}
