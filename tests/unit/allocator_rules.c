/* allocator_rules.c - a pointer behind the header of ralloc, mpv's allocator or libtalloc holds the
 * block, if each word of the header is right, also a pointer to the end of a header alone.  So do
 * the pointers of PHP's tables and functions.  The rules read nothing that they have not asked
 * for. */
#include "rule_questions.h"
#include "wrap/rules/end_rules.h"

/* The headers of a parent, its other child, the sibling behind it and a child of its own. */
#define PARENT (PLACE + 256)
#define NEXT   (PLACE + 384)
#define CHILD  (PLACE + 512)

/* Returns whether the block, a header of WORDS words, is held by its end. */
static bool is_end_of(unsigned words)
{
	memset(was_asked, 0, sizeof(was_asked));
	return is_readable(NULL, BLOCK, words * memory.word) &&
	       is_held_by_end(&memory, BLOCK, words, PLACE);
}

static bool is_ralloc_end(const struct leakwrap_interior *unused)
{
	(void)unused;
	return is_end_of(LEAKWRAP_RALLOC_HEADER_WORDS);
}

static bool is_ta_end(const struct leakwrap_interior *unused)
{
	(void)unused;
	return is_end_of(LEAKWRAP_TA_HEADER_WORDS);
}

static bool is_talloc_end(const struct leakwrap_interior *unused)
{
	(void)unused;
	return is_end_of(LEAKWRAP_TALLOC_HEADER_WORDS);
}

static bool is_php_end(const struct leakwrap_interior *unused)
{
	(void)unused;
	return is_end_of(LEAKWRAP_PHP_ARGUMENT_WORDS);
}

/* Makes the first of two children, which has a child, AT words behind the start of each header. */
static void make_ralloc(uint64_t word, unsigned at, rule *is)
{
	const uint64_t start = BLOCK + at * word, links = at * word;
	const unsigned size = (unsigned)word;

	begin(7 * word, 6 * word);
	if (at > 0)
		put(BLOCK, 4, RALLOC_CANARY);
	PUT_WORDS(start, PARENT, CHILD, 0, NEXT, CODE);
	put(PARENT + links + word, size, BLOCK);
	put(NEXT + links + 2 * word, size, BLOCK);
	put(CHILD + links, size, BLOCK);
	CHECK_CHANGES(is, {start + 4 * word, size, 0, true}, {start + 4 * word, size, 1, false},
	              {start + word, size, 0, true}, {start + 3 * word, size, 0, true},
	              {PARENT + links + word, size, 0, false},
	              {NEXT + links + 2 * word, size, 0, false}, {CHILD + links, size, 0, false},
	              {start, size, 0, false}, {start + 2 * word, size, PARENT, false},
	              {start + word, size, CHILD + 1, false}, {start + word, size, 8, false});

	/* The second child: the sibling before it has its address, the parent has another. */
	put(start + 2 * word, size, PARENT + 2 * word);
	put(PARENT + links + word, size, 0);
	put(PARENT + 2 * word + links + 3 * word, size, BLOCK);
	CHECK_CHANGES(is, {PARENT + 2 * word + links + 3 * word, size, 0, false});

	/* A root. */
	PUT_WORDS(start, 0, CHILD, 0, 0, 0);
	CHECK_CHANGES(is, {start + word, size, 0, false}, {start + 2 * word, size, NEXT, false},
	              {start + 3 * word, size, NEXT, false}, {CHILD + links, size, 0, false});
}

static void test_ralloc(uint64_t word)
{
	make_ralloc(word, 0, is_behind_ralloc_header);
	make_ralloc(word, 0, is_ralloc_end);
	make_ralloc(word, 1, is_behind_ralloc_header);
	make_ralloc(word, 1, is_ralloc_end);
	CHECK(holds(is_behind_ralloc_header));
	check_other_block(is_behind_ralloc_header, word, word);
	/* A root that is not aligned. */
	PUT_WORDS(BLOCK + 1, 0, CHILD, 0, 0, 0);
	put(CHILD, (unsigned)word, BLOCK + 1);
	CHECK(is_readable(NULL, BLOCK + 1, LEAKWRAP_RALLOC_HEADER_WORDS * word));
	CHECK(!is_held_by_end(&memory, BLOCK + 1, LEAKWRAP_RALLOC_HEADER_WORDS, PLACE));
}

static void test_ta(uint64_t word)
{
	const uint64_t mark = BLOCK + 6 * word, old_mark = BLOCK + 4 * word;

	begin(10 * word + 40, 10 * word);
	put(BLOCK, (unsigned)word, 40);
	put(mark, 4, TA_CANARY);
	CHECK_CHANGES(is_behind_ta_header, {BLOCK, (unsigned)word, 41, false},
	              {BLOCK, (unsigned)word, 0, false}, {mark, 4, 0, false},
	              {mark, 4, TA_CANARY + 1, false});
	put(BLOCK, (unsigned)word, 40 - word);
	put(mark + word, 4, TA_CANARY);
	check_other_block(is_behind_ta_header, 0, word);
	put(BLOCK, (unsigned)word, 0);
	CHECK_CHANGES(is_ta_end, {BLOCK, (unsigned)word, 1, false}, {mark, 4, 0, false});

	begin(8 * word + 40, 8 * word);
	put(BLOCK, (unsigned)word, 40);
	put(old_mark, 4, TA_CANARY);
	CHECK_CHANGES(is_behind_ta_header, {BLOCK, (unsigned)word, 39, false},
	              {old_mark, 4, 0, false});
}

static void test_talloc(uint64_t word)
{
	const unsigned size = (unsigned)word;

	begin(12 * word + 40, 12 * word);
	PUT_WORDS(BLOCK, 7, NEXT, 0, PARENT, CHILD, 0, 0, START, 40);
	CHECK_CHANGES(is_behind_talloc_header, {BLOCK + 8 * word, size, 41, false});
	check_other_block(is_behind_talloc_header, 0, word);

	put(BLOCK + 8 * word, size, 0);
	put(NEXT + 2 * word, size, BLOCK);
	put(PARENT + 4 * word, size, BLOCK);
	put(CHILD + 3 * word, size, BLOCK);
	CHECK_CHANGES(is_talloc_end, {BLOCK + 8 * word, size, 1, false}, {BLOCK, 4, 0, false},
	              {BLOCK + 7 * word, size, 0, false}, {BLOCK + 7 * word, size, 8, false},
	              {BLOCK + 5 * word, size, 1, false}, {BLOCK + 5 * word, size, NEXT, true},
	              {NEXT + 2 * word, size, 0, false}, {PARENT + 4 * word, size, 0, false},
	              {CHILD + 3 * word, size, 0, false}, {BLOCK + word, size, 0, true},
	              {BLOCK + 2 * word, size, NEXT, false}, {BLOCK, size, START, word == 4});
	/* The same header, aligned to a word alone. */
	memmove(&bytes[BLOCK + word - START], &bytes[BLOCK - START], 12 * word);
	put(NEXT + 2 * word, size, BLOCK + word);
	put(PARENT + 4 * word, size, BLOCK + word);
	put(CHILD + 3 * word, size, BLOCK + word);
	memset(was_asked, true, sizeof(was_asked));
	CHECK(is_talloc_link(&memory, BLOCK + word, 1, 2));
	CHECK(!is_held_by_end(&memory, BLOCK + word, LEAKWRAP_TALLOC_HEADER_WORDS, PLACE));
}

static void test_php_table(uint64_t word)
{
	const uint64_t hashes = PLACE - 4, used = PLACE + word, room = used + 8;
	const uint64_t list = 32 + (uint64_t)8 * PHP_VALUE;

	begin(32 + 8 * (PHP_VALUE + 2 * word), 32);
	put(hashes, 4, -(uint64_t)8);
	put(used, 4, 6);
	put(used + 4, 4, 5);
	put(room, 4, 8);
	CHECK_CHANGES(is_php_table, {hashes, 4, -(uint64_t)7, false}, {hashes, 4, 8, false},
	              {used, 4, 8, true}, {used, 4, 9, false}, {used, 4, 4, false},
	              {used, 4, 5, true}, {room, 4, 9, false}, {room, 4, 7, false});
	check_other_block(is_php_table, 1, 1);
	in.place = 0;
	CHECK(!holds(is_php_table));
	in.place = PLACE + 2;
	put(PLACE - 2, 4, -(uint64_t)8);
	put(used + 2, 4, 6);
	put(used + 6, 4, 5);
	put(room + 2, 4, 8);
	CHECK(!holds(is_php_table));

	begin(list, 32);
	put(hashes, 4, -(uint64_t)8);
	put(room, 4, 8);
	CHECK(holds(is_php_table));
	in.size = 32 + PHP_VALUE;
	CHECK(!holds(is_php_table));
}

static void test_php_function(uint64_t word)
{
	const uint64_t start = PLACE - (16 + 3 * word), name = start + 8, class = name + word;
	const uint64_t takes = PLACE - 8, needs = PLACE - 4, code = PLACE + 6 * word;
	const unsigned size = (unsigned)word;

	begin(16 * word, 4 * word);
	put(start, 1, PHP_INTERNAL_FUNCTION);
	put(name, size, START);
	put(takes, 4, 3);
	put(needs, 4, 2);
	put(code, size, CODE);
	CHECK_CHANGES(is_php_argument, {start, 1, 2, false}, {name, size, 0, false},
	              {takes, 4, 2, true}, {takes, 4, 4, false}, {takes, 4, 1, false},
	              {needs, 4, 3, true}, {needs, 4, 4, false}, {code, size, 0, false},
	              {start + 4, 4, PHP_ABSTRACT, false});
	check_other_block(is_php_argument, word, 0);
	check_other_block(is_php_argument, 4 * word, 4 * word);
	put(code, size, 0);
	put(code + word, size, CODE);
	CHECK(!holds(is_php_argument));
	put(start + 4, 4, PHP_ABSTRACT);
	put(class, size, START);
	CHECK_CHANGES(is_php_argument, {class, size, 0, false});
	in.place = 8;
	CHECK(!holds(is_php_argument));

	put(takes, 4, 0);
	put(needs, 4, 0);
	CHECK_CHANGES(is_php_end, {takes, 4, 1, false}, {name, size, 0, false});
}

/* An element of Berkeley DB, behind its size, and one that is empty. */
static void test_element(uint64_t word)
{
	const unsigned words = 8 / (unsigned)word;

	begin(48, 8);
	put(BLOCK, 8, 48);
	CHECK_CHANGES(has_length, {BLOCK, 8, 40, true}, {BLOCK, 8, 47, false},
	              {BLOCK, 8, 0, false});
	put(BLOCK, 8, 8);
	CHECK(is_end_of(words));
	put(BLOCK, 8, 16);
	CHECK(!is_end_of(words));
	put(BLOCK, 8, 0);
	CHECK(!is_end_of(words));
}

int main(void)
{
	test_with_words(test_ralloc);
	test_with_words(test_ta);
	test_with_words(test_talloc);
	test_with_words(test_php_table);
	test_with_words(test_php_function);
	test_with_words(test_element);
	return 0;
}
