// strings.cpp - keeps strings as Protocol Buffers and ICU do, and other blocks by such pointers.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/clear_stack.h"

enum { COUNT = 30 };

static void *volatile marked[COUNT];
static void *volatile counted[COUNT];
static void *volatile others[4];

static void *into(void *block, size_t offset)
{
	return static_cast<char *>(block) + offset;
}

// Strings of 0 to 29 characters, with marks in the lowest bits of their addresses.
static NOINLINE void make_marked()
{
	for (size_t i = 0; i < COUNT; i++)
		marked[i] = into(new std::string(i, 'x'), 1 + i % 3);
}

// Characters behind the number of their owners.
static NOINLINE void make_counted()
{
	for (size_t i = 0; i < COUNT; i++) {
		uint32_t *const owners = static_cast<uint32_t *>(malloc(16 * (i + 1)));

		*owners = static_cast<uint32_t>(i + 1);
		counted[i] = owners + 1;
	}
}

// No strings: zeros, a capacity below the length, no owners, and another size.
static NOINLINE void make_others()
{
	size_t *const words = static_cast<size_t *>(calloc(1, sizeof(std::string)));
	uint32_t *const owners = static_cast<uint32_t *>(calloc(1, 24));

	others[0] = into(calloc(1, sizeof(std::string)), 1);
	words[0] = reinterpret_cast<size_t>(others);
	words[1] = 30;
	words[2] = 20;
	others[1] = into(words, 2);
	others[2] = into(calloc(1, 16), 4);
	owners[0] = 3; // nor is it an array by new[] on 32 bits
	others[3] = owners + 1;
	// cppcheck-suppress memleak ; on purpose
}

int main()
{
	make_marked();
	make_counted();
	make_others();
	clear_stack();
	return raise(SIGUSR1);
}
