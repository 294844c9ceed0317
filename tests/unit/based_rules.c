/* based_rules.c - the address that element 0 of an array would have, or row 0 of a table, leads to
 * a block that begins and ends where the array does. */
#include "rule_memory.h"
#include "wrap/rules/based_rules.h"

#define ARRAY    ((leakwrap_word)START + 1024)
#define PLACE    ((leakwrap_word)START + 256)
#define ELEMENTS ((leakwrap_word)START + 1536)

static void put_numbers(uint64_t address, unsigned lowest, unsigned highest)
{
	put(address, 4, lowest);
	put(address + 4, 4, highest);
	memset(&was_asked[address - START], true, 8);
}

/* Returns what is found from the address that stands at PLACE. */
static leakwrap_word find(uint64_t address, bool has_rows)
{
	return leakwrap_find_based(&memory, (leakwrap_word)address, PLACE, has_rows);
}

static void test_array(uint64_t word)
{
	const uint64_t numbers = PLACE - word - 8;

	clear();
	CHECK(leakwrap_based_numbers(PLACE, (leakwrap_word)word, false) == numbers);
	CHECK(leakwrap_based_byte(PLACE, (leakwrap_word)word, false) == PLACE - word);
	blocks[0] = (struct block){ARRAY, 240};
	put_numbers(numbers, 1, 10);
	CHECK(find(ARRAY - 24, false) == ARRAY);
	CHECK(find(ARRAY - 23, false) == 0);
	CHECK(find(ARRAY - 20, false) == 0);
	put_numbers(numbers, 1, 11);
	CHECK(find(ARRAY - 24, false) == 0);
	put_numbers(numbers, (unsigned)-2, 7);
	CHECK(find(ARRAY + 48, false) == ARRAY);
	CHECK(find(ARRAY + 24, false) == 0);
	put_numbers(numbers, 0, 9);
	CHECK(find(ARRAY, false) == 0);
	put_numbers(numbers, 5, 4);
	CHECK(find(ARRAY - 24, false) == 0);
	put_numbers(numbers, 5, 3);
	CHECK(find(ARRAY - 24, false) == 0);
	put_numbers(numbers, 0x80000000, 0x7fffffff);
	CHECK(find(ARRAY - 24, false) == 0);

	/* No allocator returns such a block: it is not asked for. */
	put_numbers(numbers, 1, 10);
	blocks[0].address = ARRAY + 2;
	CHECK(find(ARRAY + 2 - 24, false) == 0);
	blocks[0].address = ARRAY;

	/* The largest element that is known. */
	put_numbers(numbers, 1, 2);
	blocks[0].size = 1024;
	CHECK(find(ARRAY - 512, false) == ARRAY);
	blocks[0].size = 1032;
	CHECK(find(ARRAY - 516, false) == 0);
}

/* The number of elements is in front of them. */
static void test_cookie(uint64_t word)
{
	clear();
	blocks[0] = (struct block){ARRAY, 160 + word};
	put_numbers(PLACE - word - 8, 3, 12);
	put(ARRAY, (unsigned)word, 10);
	CHECK(find(ARRAY + word - 48, false) == ARRAY);
	CHECK(find(ARRAY - 48, false) == 0);
	put(ARRAY, (unsigned)word, 9);
	CHECK(find(ARRAY + word - 48, false) == 0);
	put(ARRAY, (unsigned)word, 10);
	hole = ARRAY;
	CHECK(find(ARRAY + word - 48, false) == 0);
}

/* Behind the address of the table is that of the elements. */
static void test_rows(uint64_t word)
{
	clear();
	CHECK(leakwrap_based_numbers(PLACE, (leakwrap_word)word, true) == PLACE - 16);
	CHECK(leakwrap_based_byte(PLACE, (leakwrap_word)word, true) == PLACE + 2 * word);
	blocks[0] = (struct block){ARRAY, 10 * word};
	blocks[1] = (struct block){ELEMENTS, 30};
	put_numbers(PLACE - 16, 1, 10);
	put_numbers(PLACE - 8, 2, 4);
	put(PLACE + word, (unsigned)word, ELEMENTS);
	memset(&was_asked[PLACE - START], true, 2 * word);
	CHECK(find(ARRAY - word, true) == ARRAY);
	CHECK(find(ARRAY, true) == 0);
	CHECK(find(ARRAY - 2 * word, true) == 0);
	put_numbers(PLACE - 16, 1, 9);
	CHECK(find(ARRAY - word, true) == 0);
	put_numbers(PLACE - 16, 1, 10);
	put_numbers(PLACE - 8, 2, 1);
	CHECK(find(ARRAY - word, true) == 0);
	put_numbers(PLACE - 8, 2, 4);
	blocks[1].size = 0;
	CHECK(find(ARRAY - word, true) == 0);
}

int main(void)
{
	test_with_words(test_array);
	test_with_words(test_cookie);
	test_with_words(test_rows);
	return 0;
}
