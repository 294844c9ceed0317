/* rule_memory.h - memory for unit tests of the rules that look at memory (wrap/rules/memory.h).  A
 * rule may read a byte only after it has asked whether that can be read.  On a machine with 64 bits
 * words have 4 or 8 bytes, as for the tool.  With 32 bits the rules are compiled as those of the
 * runtime are. */
#ifndef RULE_MEMORY_H
#define RULE_MEMORY_H

#include <stdint.h>

#if UINTPTR_MAX > UINT32_MAX
#define LEAKWRAP_OTHER_PROCESS
#endif
#include "wrap/rules/memory.h"

#include "unit.h"

#include <string.h>

/* Constant data begins the memory.  Addresses of code are below it. */
enum { START = 0x10000, BYTES = 2048, CONSTANT_BYTES = 128, CODE = 0x1000 };

struct block {
	leakwrap_word address, size;
};

static unsigned char bytes[BYTES];
static bool was_asked[BYTES];
static leakwrap_word hole; /* a byte that cannot be read */
static unsigned questions; /* whether memory can be read */
static struct block blocks[24];

static uint64_t load(const void *context, leakwrap_word address, unsigned size)
{
	uint64_t number = 0;

	(void)context;
	for (unsigned i = 0; i < size; i++) {
		CHECK(address + i - START < BYTES && was_asked[address + i - START]);
		number |= (uint64_t)bytes[address + i - START] << 8 * i;
	}
	return number;
}

static bool is_readable(const void *context, leakwrap_word address, leakwrap_word size)
{
	(void)context;
	questions++;
	if (address - START >= BYTES || size > START + BYTES - address || hole - address < size)
		return false;
	memset(&was_asked[address - START], true, size);
	return true;
}

static bool is_code(const void *context, leakwrap_word address)
{
	(void)context;
	return address - CODE < CODE;
}

static bool is_constant(const void *context, leakwrap_word address)
{
	(void)context;
	return address - START < CONSTANT_BYTES;
}

static bool find_block(const void *context, leakwrap_word address, leakwrap_word *block,
                       leakwrap_word *size)
{
	(void)context;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (address - blocks[i].address < blocks[i].size) {
			*block = blocks[i].address;
			*size = blocks[i].size;
			return true;
		}
	return false;
}

static bool find_start(const void *context, leakwrap_word address, leakwrap_word *size)
{
	leakwrap_word block;

	return find_block(context, address, &block, size) && block == address;
}

static struct leakwrap_memory memory = {.load = load,
                                        .is_readable = is_readable,
                                        .is_code = is_code,
                                        .is_constant = is_constant,
                                        .find_block = find_block,
                                        .find_start = find_start,
                                        .cookie_words = 1,
                                        .has_system = true};

static void put(uint64_t address, unsigned size, uint64_t number)
{
	for (unsigned i = 0; i < size; i++)
		bytes[address - START + i] = (unsigned char)(number >> 8 * i);
}

static inline uint64_t get(uint64_t address, unsigned size)
{
	memset(&was_asked[address - START], true, size);
	return load(NULL, address, size);
}

/* Puts COUNT words at ADDRESS. */
static inline void put_words(uint64_t address, const uint64_t *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put(address + i * memory.word, (unsigned)memory.word, words[i]);
}

#define PUT_WORDS(address, ...)                             \
	put_words(address, (const uint64_t[]){__VA_ARGS__}, \
	          sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Runs TEST with each size of words. */
static void test_with_words(void (*test)(uint64_t word))
{
	for (memory.word = 4; memory.word <= sizeof(leakwrap_word); memory.word += 4)
		test(memory.word);
}

/* Forgets all memory, blocks and questions. */
static void clear(void)
{
	memset(bytes, 0, sizeof(bytes));
	memset(was_asked, 0, sizeof(was_asked));
	memset(blocks, 0, sizeof(blocks));
	hole = 0;
	questions = 0;
}

#endif
