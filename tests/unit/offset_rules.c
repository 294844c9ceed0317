/* offset_rules.c - a pattern and a set of characters of fontconfig, and the elements of a region of
 * Berkeley DB, hold blocks by distances, if each number is right.  Nothing is read that was not
 * asked for. */
#include "wrap/rules/offset_rules.h"

#include "rule_memory.h"

#define BLOCK   ((uint64_t)START + 1024)
#define FIRST   ((uint64_t)START + 256) /* elements, or distances to leaves */
#define NUMBERS ((uint64_t)START + 512)
#define LEAF    ((uint64_t)START + 1536)
#define OTHER   LEAF

enum { ROOM = 16, LEAVES = 8, USED = 3 };

static unsigned taken;
static uint64_t last;

static leakwrap_word size_at(void *context, leakwrap_word address)
{
	(void)context;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (blocks[i].address == address)
			return blocks[i].size;
	return 0;
}

static void take(void *context, leakwrap_word address, leakwrap_word place)
{
	const uint64_t mask = memory.word == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t start = BLOCK;

	(void)context;
	if (place - FIRST < 256)
		start = FIRST;
	CHECK(((start + get(place, (unsigned)memory.word)) & mask) == address);
	last = address;
	taken++;
}

/* Returns how many blocks the block holds. */
static unsigned held(void)
{
	taken = 0;
	memset(was_asked, 0, sizeof(was_asked));
	leakwrap_take_offsets(
	        &(const struct leakwrap_offsets){&memory, BLOCK, NULL, size_at, take});
	return taken;
}

/* Asks while each byte in turn cannot be read. */
static void check_reads(void)
{
	for (hole = START; hole < START + BYTES; hole++)
		held();
	hole = 0;
}

/* Checks that the block holds COUNT others if NUMBER takes the place of SIZE bytes at ADDRESS. */
static void check(uint64_t address, unsigned size, uint64_t number, unsigned count)
{
	const uint64_t before = get(address, size);

	put(address, size, number);
	if (held() != count)
		fprintf(stderr, "0x%x at 0x%x: %u\n", (unsigned)number, (unsigned)address, taken);
	CHECK(taken == count);
	put(address, size, before);
}

/* The number of elements, the room for them, the distance and the number of owners. */
static void test_pattern(uint64_t word)
{
	const unsigned size = (unsigned)word;
	const uint64_t owners = BLOCK + 8 + word;

	clear();
	put(BLOCK, 4, USED);
	put(BLOCK + 4, 4, ROOM);
	put(BLOCK + 8, size, FIRST - BLOCK);
	put(owners, 4, 1);
	put(FIRST, 4, 1);
	put(FIRST + word, size, START);
	blocks[0] = (struct block){FIRST, (uint64_t)ROOM * 2 * word};
	check(BLOCK, 4, 1, 1);
	check_reads();
	check(BLOCK, 4, ROOM, 1);
	check(BLOCK, 4, ROOM + 1, 0);
	check(BLOCK, 4, 0, 0);
	check(BLOCK + 4, 4, ROOM - 1, 0);
	check(BLOCK + 4, 4, ROOM + 1, 0);
	check(BLOCK + 8, size, FIRST + word - BLOCK, 0);
	check(owners, 4, 0, 0);
	check(owners, 4, INT32_MAX, 1);
	check(owners, 4, UINT32_MAX, 0);
	check(FIRST, 4, 0, 0);
	check(FIRST, 4, INT32_MAX, 1);
	check(FIRST, 4, UINT32_MAX, 0);
	check(FIRST + word, size, 0, 0);
	check(FIRST + word, size, START + 1, 0);

	/* The largest room. */
	put(BLOCK + 4, 4, OFFSETS_MAX);
	blocks[0].size = (uint64_t)OFFSETS_MAX * 2 * word;
	CHECK(held() == 1);
	put(BLOCK + 4, 4, OFFSETS_MAX + 1);
	blocks[0].size += 2 * word;
	CHECK(held() == 0);
}

/* The numbers of owners and leaves, and the distances to two arrays. */
static void test_set(uint64_t word)
{
	const unsigned size = (unsigned)word;

	clear();
	put(BLOCK, 4, 1);
	put(BLOCK + 4, 4, USED);
	put(BLOCK + 8, size, FIRST - BLOCK);
	put(BLOCK + 8 + word, size, NUMBERS - BLOCK);
	blocks[0] = (struct block){FIRST, LEAVES * word};
	blocks[1] = (struct block){NUMBERS, (uint64_t)LEAVES * 2};
	for (uint64_t i = 0; i < LEAVES; i++) {
		blocks[2 + i] = (struct block){LEAF + 32 * i, 32};
		put(FIRST + i * word, size, LEAF + 32 * i - FIRST);
	}
	CHECK(held() == 2 + USED && last == LEAF + (uint64_t)32 * (USED - 1));
	check_reads();
	check(BLOCK, 4, 0, 0);
	check(BLOCK, 4, INT32_MAX, 2 + USED);
	check(BLOCK, 4, UINT32_MAX, 0);
	check(BLOCK + 4, 4, LEAVES, 2 + LEAVES);
	check(BLOCK + 4, 4, LEAVES + 1, 0);
	check(BLOCK + 4, 4, 0, 0);
	check(BLOCK + 8, size, FIRST + word - BLOCK, 0);
	check(BLOCK + 8 + word, size, LEAF - BLOCK, 0);
	check(FIRST, size, FIRST - LEAF, 0);
	check(FIRST + word, size, FIRST - LEAF, 2 + USED - 1);
	blocks[0].size += 1;
	CHECK(held() == 0);
	blocks[0].size -= 1;
	blocks[1].size += 2;
	CHECK(held() == 0);
	blocks[1].size -= 2;
	blocks[2].size = 33;
	CHECK(held() == 0);
}

/* Counts what is taken: OTHER alone. */
static void take_other(void *context, leakwrap_word address, leakwrap_word place)
{
	(void)context, (void)place;
	CHECK(address == OTHER);
	taken++;
}

/* Returns how often the block of SIZE bytes holds another one as an element of a region. */
static unsigned held_elements(leakwrap_word size)
{
	const struct leakwrap_offsets of = {&memory, BLOCK, NULL, size_at, take_other};

	taken = 0;
	memset(was_asked, 0, sizeof(was_asked));
	leakwrap_take_elements(&of, size);
	return taken;
}

/* Checks that the block of SIZE bytes holds COUNT others if NUMBER takes the place of a word. */
static void check_element(leakwrap_word size, uint64_t address, uint64_t number, unsigned count)
{
	const uint64_t before = get(address, (unsigned)memory.word);

	put(address, (unsigned)memory.word, number);
	CHECK(held_elements(size) == count);
	put(address, (unsigned)memory.word, before);
}

/* The distances to an element stand in the head of a list and in another element. */
static void test_elements(uint64_t word)
{
	const leakwrap_word size = 8 + 40 * word, element = BLOCK + 8, to = OTHER + 8;
	const leakwrap_word last = BLOCK + size - word, behind = element + 32 * word;

	clear();
	blocks[0] = (struct block){BLOCK, size};
	blocks[1] = (struct block){OTHER, 24};
	put(BLOCK, 8, size);
	put(OTHER, 8, 24);
	CHECK(is_readable(NULL, BLOCK, 8));
	CHECK(leakwrap_is_of_region(&memory, BLOCK, size));
	CHECK(!leakwrap_is_of_region(&memory, BLOCK, size + 1));
	CHECK(held_elements(size) == 0);
	check_element(size, element, to - element, 2);
	check_element(size, element + word, to - element, 1);
	check_element(size, element + word, to - element - word, 1);
	check_element(size, last, to - last, 1);
	check_element(size - 1, last, to - last, 0);
	check_element(size, behind - word, to - element, 1);
	check_element(size, behind, to - element, 0);
	check_element(size, element + word, 8, 0);
	check_element(size, element + word, to - element + 1, 0);
	check_element(size, element + word, to - element + 8, 0);
	/* An element without a size, and the block itself. */
	check_element(size, element + word, (uint64_t)0 - word, 0);
	put(element + word, (unsigned)word, to - element);
	check_element(size, OTHER, 25, 0);
	blocks[1].size = 8;
	check_element(size, OTHER, 8, 0);
	blocks[1].size = 24;
	for (hole = START; hole < START + BYTES; hole++)
		held_elements(size);
	hole = 0;
}

int main(void)
{
	test_with_words(test_pattern);
	test_with_words(test_set);
	test_with_words(test_elements);
	return 0;
}
