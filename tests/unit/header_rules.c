/* header_rules.c - a pointer behind a library's header holds the block, if each number in the
 * header is right.  The rules read nothing that they have not asked for. */
#include "rule_questions.h"

static void put_numbers(uint64_t address, const uint32_t *numbers, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put(address + (uint64_t)4 * i, 4, numbers[i]);
}

#define PUT_NUMBERS(address, ...)                             \
	put_numbers(address, (const uint32_t[]){__VA_ARGS__}, \
	            sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* Marks, number of elements, room and length. */
static void test_elements(uint64_t word)
{
	(void)word;
	begin(16 + 8 * 12, 16);
	PUT_NUMBERS(BLOCK, 0, 4, 12, 20);
	CHECK_CHANGES(is_behind_element_header, {BLOCK, 4, 0xfe, true}, {BLOCK, 4, 1, false},
	              {BLOCK, 4, 0x100, false}, {BLOCK, 4, 1u << 21, false},
	              {BLOCK + 4, 4, 0, true}, {BLOCK + 4, 4, 12, true}, {BLOCK + 4, 4, 13, false},
	              {BLOCK + 8, 4, 11, false}, {BLOCK + 8, 4, 13, false},
	              {BLOCK + 12, 4, 0, true}, {BLOCK + 12, 4, 4, true},
	              {BLOCK + 12, 4, 3, false});
	check_other_block(is_behind_element_header, 4, 0);
	put(BLOCK + 12, 4, 0);
	CHECK_CHANGES(is_behind_element_header, {BLOCK + 4, 4, 0, false},
	              {BLOCK + 4, 4, 13, false});
	PUT_NUMBERS(BLOCK + 4, 0, 4, 11, 20);
	check_other_block(is_behind_element_header, 0, 4);

	/* Twelve elements were removed. */
	begin(16 + 8 * 40, 16 + 8 * 12);
	PUT_NUMBERS(BLOCK + 96, 12u << 21, 4, 28, 20);
	CHECK_CHANGES(is_behind_element_header, {BLOCK + 96, 4, 11u << 21, false});

	begin(16 + 8 * 6, 16);
	PUT_NUMBERS(BLOCK, 0, 4, 6, 20);
	CHECK(holds(is_behind_element_header));
	put(BLOCK + 8, 4, 5);
	check_other_block(is_behind_element_header, -(leakwrap_word)8, 0);
}

static void test_ntl(uint64_t word)
{
	const uint64_t room = BLOCK + word, made = BLOCK + 2 * word, is_fixed = BLOCK + 3 * word;
	const unsigned size = (unsigned)word;

	begin(4 * word + 288, 4 * word);
	PUT_WORDS(BLOCK, 4, 12, 5, 0);
	CHECK_CHANGES(is_ntl_vector, {BLOCK, size, 5, true}, {BLOCK, size, 6, false},
	              {room, size, 0, false}, {room, size, 6, false}, {room, size, 16, false},
	              {room, size, 68, false}, {made, size, 12, true}, {made, size, 13, false},
	              {is_fixed, size, 1, true}, {is_fixed, size, 2, false});
	check_other_block(is_ntl_vector, 0, 144);

	begin(14 * word, 2 * word);
	PUT_WORDS(BLOCK, 24, 5);
	CHECK_CHANGES(is_ntl_words, {BLOCK, size, 25, true}, {BLOCK, size, 16, false},
	              {BLOCK, size, 32, false}, {room, size, 12, true}, {room, size, 13, false});
	check_other_block(is_ntl_words, 1, 0);
	check_other_block(is_ntl_words, word, word);
	put(BLOCK, size, (uint64_t)2 * 6);
	check_other_block(is_ntl_words, 0 - 6 * word, 0);
}

static void test_language(uint64_t word)
{
	const uint64_t mark = BLOCK + 2 * word;

	begin(3 * word + 3, 3 * word);
	put(mark, 4, LANGUAGE_MARK);
	CHECK_CHANGES(is_pango_language, {mark, 4, LANGUAGE_MARK + 1, false}, {mark, 4, 0, false});
	check_other_block(is_pango_language, 0, 1);
}

static void test_z3(uint64_t word)
{
	const uint64_t size = word + 8 + 288, watches = word == 8 ? 16 : 12;
	const uint64_t behind = BLOCK + word, numbers = behind + watches - 12;

	begin(40, word);
	put(BLOCK, (unsigned)word, 40);
	CHECK_CHANGES(is_of_z3, {BLOCK, (unsigned)word, 39, false});
	check_other_block(is_of_z3, 0, 4);

	/* Room and number of elements. */
	begin(size, word + 8);
	put(BLOCK, (unsigned)word, size);
	PUT_NUMBERS(behind, 12, 3);
	CHECK_CHANGES(is_of_z3, {behind, 4, 0, false}, {behind, 4, 13, false},
	              {behind + 4, 4, 12, true}, {behind + 4, 4, 13, false});
	PUT_NUMBERS(behind + 4, 4, 3);
	check_other_block(is_of_z3, 0, 4);

	/* The end of the clauses, the start of the literals, and the room for them. */
	begin(word + watches + 40, word + watches);
	put(BLOCK, (unsigned)word, in.size);
	PUT_NUMBERS(numbers, 8, 8, 40);
	CHECK_CHANGES(is_of_z3, {numbers, 4, 9, false}, {numbers + 4, 4, 40, true},
	              {numbers + 4, 4, 41, false}, {numbers + 8, 4, 39, false},
	              {numbers + 8, 4, 41, false});
	PUT_NUMBERS(behind, 8, in.size - word - 8);
	in.pointer = behind + 8;
	in.offset = word + 8;
	CHECK(!holds(is_of_z3));
}

static void test_message(uint64_t word)
{
	const uint64_t room = PLACE - 3 * word, header = room - word - 4;
	const unsigned size = (unsigned)word;

	begin(4 + 40, 4);
	put(header, 1, 4);
	PUT_WORDS(room, 40, 5, 1152);
	CHECK_CHANGES(is_of_message, {header, 1, 6, false}, {room, size, 41, false},
	              {room, size, 5, true}, {room, size, 4, false}, {PLACE - word, size, 40, true},
	              {PLACE - word, size, 39, false}, {PLACE - word, size, 0, true});
	in.place = 0;
	CHECK(!holds(is_of_message));
	in.place = 2 * word;
	CHECK(!holds(is_of_message));
	in.place = PLACE;
	put(room + word, size, 0);
	CHECK_CHANGES(is_of_message, {room, size, 0, false});
	put(header, 1, 5);
	check_other_block(is_of_message, 1, 1);
	put(header, 1, 6);
	change_block(2, 2);
	CHECK(holds(is_of_message));
}

/* The pointer stands in a structure with the size of a page, and how much of it is used. */
static void test_row(uint64_t word)
{
	const uint64_t page = PLACE - word - 8, used = page + 4;

	(void)word;
	begin(8 + 512, 12);
	blocks[0] = (struct block){page - 8, 8 + 8 + 2 * word};
	put(BLOCK, 8, 512);
	PUT_NUMBERS(page, 512, 512);
	CHECK_CHANGES(is_room_for_row, {page, 4, 1024, false}, {used, 4, 257, true},
	              {used, 4, 256, false}, {used, 4, 513, false}, {BLOCK, 8, 511, false});
	check_other_block(is_room_for_row, 0, 4);
	in.place = 0;
	CHECK(!holds(is_room_for_row));
	in.place = PLACE;
	change_block(-(leakwrap_word)8, -(leakwrap_word)8);
	CHECK(holds(is_room_for_row));
	blocks[0].size = BTREE_MAX + 1;
	CHECK(!holds(is_room_for_row));
	blocks[0].size = 0;
	CHECK(!holds(is_room_for_row));

	/* A page has from 512 to 65,536 bytes. */
	begin(256, 4);
	blocks[0] = (struct block){page, 16 + word};
	PUT_NUMBERS(page, 256, 256);
	CHECK(!holds(is_room_for_row));
	begin(768, 4);
	blocks[0] = (struct block){page, 16 + word};
	PUT_NUMBERS(page, 768, 768);
	CHECK(!holds(is_room_for_row));
}

/* Makes an object behind a private part of OFFSET words, and its child at PLACE.  The word FIRST of
 * the private part leads to the child. */
static void make_vlc_object(uint64_t word, unsigned offset, unsigned first)
{
	const uint64_t child = PLACE + offset * word, object = BLOCK + offset * word;

	begin((offset + 6) * word, offset * word);
	put(object, (unsigned)word, START);
	put(child, (unsigned)word, START);
	put(BLOCK + first * word, (unsigned)word, PLACE);
	put(child + 5 * word, (unsigned)word, object);
}

/* A block that was asked for by its size, and one of a pool. */
static void test_gluster(uint64_t word)
{
	const unsigned size = (unsigned)word;
	const uint64_t mark = BLOCK + 2 * word + 4, of_pool = BLOCK + 4 * word;

	begin(2 * word + 8 + 40, 2 * word + 8);
	put(BLOCK + word, size, 36);
	put(mark, 4, GLUSTER_MAGIC);
	CHECK_CHANGES(is_behind_gluster_header, {mark, 4, GLUSTER_MAGIC + 1, false},
	              {BLOCK + word, size, 40, true}, {BLOCK + word, size, 41, false},
	              {BLOCK + word, size, 0, false});
	begin(5 * word + 40, 5 * word);
	put(BLOCK, size, GLUSTER_MAGIC);
	put(of_pool, size, START);
	CHECK_CHANGES(is_behind_gluster_header, {BLOCK, size, GLUSTER_MAGIC - 1, false},
	              {of_pool, size, 0, false}, {of_pool, size, START + 1, false});
	check_other_block(is_behind_gluster_header, 0, word);
}

static void test_vlc(uint64_t word)
{
	const uint64_t object = BLOCK + 40 * word, child = PLACE + 40 * word;
	const uint64_t first = BLOCK + 39 * word, parent = child + 5 * word;
	const unsigned size = (unsigned)word;

	make_vlc_object(word, 40, 39);
	CHECK_CHANGES(is_vlc_object, {first, size, 0, false}, {parent, size, BLOCK, false},
	              {object, size, START + CONSTANT_BYTES, false},
	              {child, size, START + CONSTANT_BYTES, false});
	put(parent, size, 0);
	put(child + word, size, object);
	CHECK(holds(is_vlc_object));
	put(child + word, size, 0);
	put(child + 6 * word, size, object);
	CHECK(!holds(is_vlc_object));

	/* The first child is no part of the block. */
	make_vlc_object(word, 40, 39);
	change_block(60 * word, 0);
	put(first, size, BLOCK + word);
	put(BLOCK + word + 40 * word, size, START);
	put(BLOCK + word + 41 * word, size, object);
	CHECK(!holds(is_vlc_object));

	make_vlc_object(word, 40, 28);
	CHECK(holds(is_vlc_object));
	make_vlc_object(word, 40, 27);
	CHECK(!holds(is_vlc_object));
	make_vlc_object(word, 13, 12);
	CHECK(holds(is_vlc_object));
	make_vlc_object(word, 12, 11);
	CHECK(!holds(is_vlc_object));
	make_vlc_object(word, 64, 63);
	CHECK(holds(is_vlc_object));
	make_vlc_object(word, 65, 64);
	CHECK(!holds(is_vlc_object));
}

/* Eight bytes of a message were taken away. */
static void test_nanomsg(uint64_t word)
{
	const uint64_t taken = BLOCK + 3 * word + 8, mark = taken + 4;

	begin(3 * word + 40, 3 * word + 16);
	put(BLOCK + 2 * word, (unsigned)word, CODE);
	put(taken, 4, 0x08000000);
	put(mark, 4, NANOMSG_MARK);
	CHECK_CHANGES(is_of_nanomsg, {mark, 4, 0xdeadcafe, false}, {taken, 4, 8, false},
	              {taken, 4, 0x07000000, false},
	              {BLOCK + 2 * word, (unsigned)word, BLOCK, false});
	check_other_block(is_of_nanomsg, 0, 1);
	/* The header is no part of it. */
	begin(3 * word + 40, 8);
	put(BLOCK + 4, 4, NANOMSG_MARK);
	CHECK(!holds(is_of_nanomsg));
}

int main(void)
{
	test_with_words(test_elements);
	test_with_words(test_ntl);
	test_with_words(test_language);
	test_with_words(test_z3);
	test_with_words(test_message);
	test_with_words(test_row);
	test_with_words(test_gluster);
	test_with_words(test_vlc);
	test_with_words(test_nanomsg);
	return 0;
}
