/* part_rules.c - a pointer to a node, a key, a description or a vector holds the block, if the
 * words there and beside the pointer are right.  The rules read nothing that they have not asked
 * for, and ask little of the nodes of a long list. */
#include "rule_questions.h"

#define OTHER (PLACE + 256)
#define THIRD (PLACE + 512)

/* A node at the fourth word, of a block of six words.  The next one is at OTHER. */
static void test_chain(uint64_t word)
{
	const unsigned size = (unsigned)word;
	const uint64_t node = BLOCK + 3 * word, next = OTHER + 3 * word;

	begin(6 * word, 3 * word);
	blocks[0] = (struct block){BLOCK, 6 * word};
	blocks[1] = (struct block){OTHER, 6 * word};
	put(node, size, next);
	CHECK_CHANGES(is_chained, {node, size, next + word, false}, {node, size, node, false},
	              {node, size, THIRD, false}, {node, size, 0, false},
	              {node, size, next + 1, false});
	blocks[1].size++;
	CHECK(!holds(is_chained));

	/* The node before it is at OTHER. */
	in.place = next;
	blocks[1].size--;
	CHECK_CHANGES(is_chained, {node, size, 0, true}, {node, size, 255, true},
	              {node, size, 256, false}, {node, size, THIRD, true});
	in.place = next + word;
	put(node, size, 0);
	CHECK(!holds(is_chained));
	in.place = node + word;
	CHECK(!holds(is_chained));

	/* The first word of a block is no part of it, nor is one that is not aligned. */
	in.place = OTHER + 1;
	check_other_block(is_chained, 0, 1 - 3 * word);
	in.place = OTHER + 3 * word + 1;
	check_other_block(is_chained, 0, 1);
}

/* An object, whose second word is the address of the pool at OTHER.  The third word of the pool is
 * that of the block at THIRD, which leads on. */
static void test_pool_apart(uint64_t word)
{
	const unsigned size = (unsigned)word;
	const uint64_t of_object = BLOCK + 4 * word, newest = OTHER + 2 * word;

	begin(40 * word, 3 * word);
	blocks[0] = (struct block){OTHER, 5 * word};
	put(of_object, size, OTHER);
	put(newest, size, THIRD);
	put(THIRD, size, BLOCK);
	CHECK_CHANGES(knows_pool_apart, {of_object, size, 0, false},
	              {of_object, size, OTHER + word, false}, {of_object, size, THIRD, false},
	              {of_object, size, BLOCK, false}, {newest, size, BLOCK, true},
	              {newest, size, BLOCK + word, false}, {THIRD, size, 0, false},
	              {THIRD, size, THIRD, false});
	put(newest, size, 0);
	put(newest + word, size, THIRD);
	CHECK(holds(knows_pool_apart));
	put(newest + word, size, 0);
	put(newest + 2 * word, size, THIRD);
	CHECK(!holds(knows_pool_apart));
	put(newest, size, THIRD);
	CHECK(holds(knows_pool_apart));
	put(newest, size, 0);
	put(OTHER, size, THIRD);
	CHECK(!holds(knows_pool_apart));
	put(newest, size, THIRD);
	blocks[0].size = 3 * word;
	CHECK(!holds(knows_pool_apart));
	blocks[0] = (struct block){OTHER - word, 6 * word};
	CHECK(!holds(knows_pool_apart));
	blocks[0] = (struct block){OTHER, 5 * word};
	put(of_object, size, 0);
	put(BLOCK + 10 * word, size, OTHER);
	CHECK(holds(knows_pool_apart));
	put(BLOCK + 10 * word, size, 0);
	put(BLOCK + 11 * word, size, OTHER);
	CHECK(!holds(knows_pool_apart));
}

/* A part that is aligned to two words, or to one behind the block's address alone. */
static void test_aligned_part(uint64_t word)
{
	const unsigned size = (unsigned)word;

	begin(20 * word, word);
	put(BLOCK, size, BLOCK);
	CHECK_CHANGES(is_aligned_part, {BLOCK, size, 0, false}, {BLOCK, size, BLOCK + word, false});
	put(BLOCK + word, size, BLOCK);
	change_block(0, word);
	CHECK(holds(is_aligned_part));
	put(BLOCK + 2 * word, size, BLOCK);
	check_other_block(is_aligned_part, 0, word);
	check_other_block(is_aligned_part, 0, 1);
}

/* A structure at the first multiple of 64. */
static void test_aligned_structure(uint64_t word)
{
	const unsigned size = (unsigned)word;

	begin(120 * word, 48);
	in.block += 16;
	in.pointer += 16;
	put(in.pointer + 95 * word, size, in.block);
	CHECK_CHANGES(is_aligned_structure, {in.pointer + 95 * word, size, 0, false},
	              {in.pointer + 95 * word, size, BLOCK, false},
	              {in.pointer + 61 * word, size, in.block, true});
	put(in.pointer + 95 * word, size, 0);
	put(in.pointer + 96 * word, size, in.block);
	CHECK(!holds(is_aligned_structure));
	put(in.pointer + 10 * word, size, in.block);
	CHECK(holds(is_aligned_structure));
	check_other_block(is_aligned_structure, 0, word);
	in.block -= 16;
	in.offset += 16;
	put(in.pointer + 10 * word, size, in.block);
	CHECK(!holds(is_aligned_structure));
}

/* The node is 32 bytes behind the start of the block.  A node at OTHER follows, then a bucket at
 * THIRD.  The pointer stands in a bucket. */
static void test_rcu(uint64_t word)
{
	const unsigned size = (unsigned)word;
	const uint64_t node = BLOCK + 32, hash = node + word;
	const uint64_t bucket_hash = (uint64_t)7 << (8 * word - 4);

	begin(32 + 2 * word, 32);
	PUT_WORDS(node, OTHER, 5);
	PUT_WORDS(OTHER, THIRD | 1, 6);
	PUT_WORDS(THIRD, 2, bucket_hash);
	CHECK_CHANGES(is_rcu_node, {node, size, OTHER | 4, true}, {node, size, OTHER | 1, false},
	              {hash, size, 6, true}, {hash, size, 7, false}, {OTHER + word, size, 5, true},
	              {OTHER, size, 2, false}, {OTHER + word, size, 4, false},
	              {THIRD, size, 0, false}, {THIRD, size, OTHER | 2, true},
	              {THIRD, size, 8 | 2, false}, {THIRD + word, size, bucket_hash + 1, false},
	              {THIRD + word, size, bucket_hash + ((uint64_t)1 << (4 * word - 1)), false});
	check_other_block(is_rcu_node, -(leakwrap_word)1, 0);

	/* The chain ends. */
	put(THIRD, size, 0);
	in.pointer = node | RCU_IS_BUCKET;
	in.offset += RCU_IS_BUCKET;
	PUT_WORDS(PLACE, in.pointer, 0);
	CHECK_CHANGES(is_rcu_node, {PLACE + word, size, 1, false},
	              {PLACE + word, size, bucket_hash, false});
	put(hash, size, 0);
	CHECK(!holds(is_rcu_node));
	PUT_WORDS(PLACE + word, bucket_hash);
	PUT_WORDS(node, 0, bucket_hash);
	CHECK(holds(is_rcu_node));
	in.pointer = node;
	in.offset -= RCU_IS_BUCKET;
	CHECK(!holds(is_rcu_node));
}

/* A node at the fourth word, of a block of eight words, was taken out of its list.  The pointer
 * leads to it, or in front of it. */
static void test_worked_on(uint64_t word)
{
	const unsigned size = (unsigned)word;
	const uint64_t node = BLOCK + 4 * word;

	for (uint64_t before = 0; before <= 3; before++) {
		begin(8 * word, (4 - before) * word);
		blocks[0] = (struct block){BLOCK, in.size};
		blocks[1] = (struct block){OTHER, 0};
		PUT_WORDS(node, node, node);
		CHECK_CHANGES(is_linked_part, {node, size, THIRD, false},
		              {node + word, size, 0, false},
		              {node + word, size, node + word, false},
		              {PLACE - word, size, in.pointer, false},
		              {PLACE + word, size, in.pointer, false},
		              {PLACE + word, size, node + 1, true});
		in.place = 0; /* a register */
		CHECK(holds(is_linked_part));
		/* The pointer is in a block. */
		in.place = OTHER + word;
		blocks[1].size = 4 * word;
		CHECK(!holds(is_linked_part));
		/* The block ends before the second link. */
		in.place = PLACE;
		check_other_block(is_linked_part, 0 - 3 * word, 0);
	}
	begin(9 * word, word);
	PUT_WORDS(BLOCK + 5 * word, BLOCK + 5 * word, BLOCK + 5 * word);
	CHECK(!holds(is_linked_part));
}

/* The only node of a list is behind a state machine of nanomsg. */
static void test_only_machine(uint64_t word)
{
	const unsigned size = (unsigned)word;
	const uint64_t owner = BLOCK + 8 + 3 * word;

	begin(12 * word, 10 * word);
	PUT_WORDS(BLOCK, CODE, CODE);
	PUT_WORDS(owner, OTHER, THIRD);
	PUT_WORDS(PLACE, in.pointer, in.pointer);
	CHECK_CHANGES(is_linked_part, {BLOCK, size, OTHER, false}, {BLOCK + word, size, 0, false},
	              {owner, size, 0, false}, {owner + word, size, OTHER + 1, false},
	              {PLACE + word, size, BLOCK, false}, {in.pointer, size, OTHER, false},
	              {in.pointer + word, size, OTHER, false});
	check_other_block(is_linked_part, -word, 0);
	/* The node is a part of the machine. */
	begin(8 + 7 * word, 8 + 4 * word);
	PUT_WORDS(BLOCK, CODE, CODE);
	PUT_WORDS(PLACE, in.pointer, in.pointer);
	CHECK(!holds(is_linked_part));
}

/* A list with links to both sides, in blocks of different sizes, which ascend in memory.  Each node
 * is looked at for each of the others that leads to it, so few nodes may be looked at for one. */
static void test_long_list(uint64_t word)
{
	enum { NODES = 40 };
	const uint64_t nodes = BLOCK + 256, step = 2 * word;

	begin(6 * word, 4 * word);
	PUT_WORDS(in.pointer, nodes, PLACE);
	for (uint64_t i = 0; i < NODES; i++)
		PUT_WORDS(nodes + i * step, nodes + (i + 1) * step,
		          i == 0 ? in.pointer : nodes + (i - 1) * step);
	questions = 0;
	CHECK(is_usual(&in));
	CHECK(questions < NODES);
}

/* Returns the hash of KEY. */
static uint64_t hash_of(const char *key, uint64_t word)
{
	uint64_t hash = 0;

	for (; *key; key++)
		hash = hash * 101 + (unsigned char)*key;
	return word == 4 ? hash & UINT32_MAX : hash;
}

/* Puts KEY OFFSET bytes behind the start of the block, and its hash in front of the pointer. */
static void put_key(const char *key, uint64_t offset, uint64_t word)
{
	const size_t length = strlen(key);

	begin(offset + length + 1, offset);
	for (size_t i = 0; i <= length; i++)
		bytes[in.pointer - START + i] = (unsigned char)key[i];
	put(PLACE - word, (unsigned)word, hash_of(key, word));
}

static void test_key(uint64_t word)
{
	static const char seven[] = "seven..", eight[] = "eight...", ten[] = "characters";
	const unsigned size = (unsigned)word;
	char longest[KEY_MAX] = {0}; /* with the zero behind it */

	put_key(ten, 17, word);
	CHECK_CHANGES(is_hashed_key, {PLACE - word, size, hash_of(ten, word) + 1, false},
	              {BLOCK + 17 + 9, 1, 'S', false}, {BLOCK + 17 + 10, 1, 's', false});
	in.place = 0;
	CHECK(!holds(is_hashed_key));
	put_key(seven, 17, word);
	CHECK(holds(is_hashed_key));
	put_key(eight, 17, word);
	CHECK(holds(is_hashed_key));
	/* With 64 bits a hash of few bits is that of a short key.  This one has 45 bits. */
	put_key("key 682190046564", 17, word);
	CHECK(holds(is_hashed_key) == (word == 4));
	put_key("a", 17, word);
	CHECK(holds(is_hashed_key));
	put_key("a", 20, word);
	CHECK(!holds(is_hashed_key));
	put_key("ab", 20, word);
	CHECK(holds(is_hashed_key));
	memset(longest, 'k', KEY_MAX - 1);
	put_key(longest, 17, word);
	CHECK(holds(is_hashed_key));
	/* What ends a key must be in the block. */
	put_key(ten, 17, word);
	check_other_block(is_hashed_key, -(leakwrap_word)1, 0);
}

/* A vector of 8 signals. */
static void test_vector(uint64_t word)
{
	const unsigned size = (unsigned)word;
	const uint64_t signals = BLOCK + word, first = BLOCK + 2 * word, last = BLOCK + 3 * word;

	begin(20 * word, 1);
	PUT_WORDS(BLOCK, OTHER | 1, 8, OTHER, THIRD);
	CHECK_CHANGES(is_signal_vector, {BLOCK, size, 0, true}, {BLOCK, size, OTHER, true},
	              {BLOCK, size, OTHER + 2, false}, {BLOCK, size, 8, false},
	              {signals, size, 16, false}, {signals, size, 0, false},
	              {first, size, 0, false}, {last, size, 0, false}, {first, size, 8, false},
	              {last, size, 8, false}, {BLOCK + 6 * word, size, OTHER, false},
	              {BLOCK + 7 * word, size, OTHER, false});
	check_other_block(is_signal_vector, 0, 1);
	check_other_block(is_signal_vector, word, 0);
	put(signals, size, 9);
	check_other_block(is_signal_vector, 2 * word, 0);
	/* No block is so small. */
	put(signals, size, 0);
	check_other_block(is_signal_vector, 0 - 16 * word, 0);
}

/* A description of widgets with two classes.  Their type is at OTHER. */
static void test_declaration(uint64_t word)
{
	const unsigned size = (unsigned)word;
	const uint64_t classes = BLOCK + 8 + 3 * word + 4, head = word == 8 ? 48 : 32;

	begin(head + 8, 3);
	put(BLOCK, 4, 1);
	put(BLOCK + 8, size, OTHER);
	put(classes, 4, 2);
	put(OTHER + ANCESTORS_FIRST * word, size, OTHER);
	CHECK_CHANGES(is_gtk_declaration, {BLOCK, 4, 0, false}, {BLOCK, 4, INT32_MAX, true},
	              {BLOCK, 4, UINT32_MAX, false}, {classes, 4, 1, false}, {classes, 4, 3, false},
	              {classes + 4, 4, 1, false}, {BLOCK + 8, size, THIRD, false});
	check_other_block(is_gtk_declaration, 0, 1);
	/* A smaller block is not read beyond its end. */
	check_other_block(is_gtk_declaration, -head, 0);
}

static void test_marked_object(uint64_t word)
{
	begin(2 * word, word - 1);
	put(BLOCK, (unsigned)word, START);
	put(START, (unsigned)word, CODE);
	CHECK_CHANGES(is_marked_object, {BLOCK, (unsigned)word, START + word, false},
	              {START, (unsigned)word, 1, false}, {BLOCK, (unsigned)word, OTHER, false});
	check_other_block(is_marked_object, 0, 1);
	/* A block without room for the address of a vtable is no object. */
	begin(word - 1, 1);
	put(BLOCK, (unsigned)word, START);
	put(START, (unsigned)word, CODE);
	CHECK(!holds(is_marked_object));
}

int main(void)
{
	test_with_words(test_chain);
	test_with_words(test_pool_apart);
	test_with_words(test_aligned_part);
	test_with_words(test_aligned_structure);
	test_with_words(test_rcu);
	test_with_words(test_only_machine);
	test_with_words(test_worked_on);
	test_with_words(test_long_list);
	test_with_words(test_key);
	test_with_words(test_vector);
	test_with_words(test_declaration);
	test_with_words(test_marked_object);
	return 0;
}
