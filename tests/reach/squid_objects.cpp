// squid_objects.cpp - holds objects as Squid does: the program has pointers behind what it keeps of
// an object that callbacks are given, or to a part of such an object.  What it keeps ends with the
// address of the block with inverted bits.  Two blocks have another word there.
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tests/clear_stack.h"
#include "tests/reach/two_bases.h"

enum { OBJECTS = 50 };

static const std::uintptr_t inverted = 0xdeadbeef;

struct PlainPart {
	PlainPart *next;
	char text[40];
};

struct Both : First, Second {
	long both = 3;
};

// Like class cbdata of Squid (5.7, src/cbdata.cc).
struct Block {
	int valid;
	std::int32_t locks;
	int type;
	std::uintptr_t cookie;
	void *data[1];
};

static PlainPart *volatile first, *volatile other;
static Second *volatile parts[OBJECTS], *volatile other_part;

template <typename Object> static Object *allocate(std::uintptr_t bits)
{
	const std::size_t size = offsetof(Block, data) + sizeof(Object);
	Block *const block = static_cast<Block *>(std::calloc(1, size));

	block->valid = 1;
	block->type = 7;
	block->cookie = reinterpret_cast<std::uintptr_t>(block) ^ bits;
	return new (block->data) Object;
}

static __attribute__((noinline)) void make()
{
	for (int i = 0; i < OBJECTS; i++) {
		PlainPart *const plain = allocate<PlainPart>(inverted);

		plain->next = first;
		first = plain;
		parts[i] = allocate<Both>(inverted);
	}
	other = allocate<PlainPart>(inverted ^ 1);
	other_part = allocate<Both>(inverted ^ 1);
}

int main()
{
	make();
	clear_stack();
	return std::raise(SIGUSR1);
}
