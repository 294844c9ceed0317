// monotonic_buffers.cpp - holds blocks by a std::pmr::monotonic_buffer_resource, which has the
// addresses of their ends.  Similar blocks are none of these.
#include <csignal>
#include <cstdlib>
#include <memory_resource>

#include "tests/clear_stack.h"

enum { PARTS = 500, PART = 40, OTHERS = 4, SIZE = 256 };

static std::pmr::monotonic_buffer_resource *volatile resource, *volatile aligned;
static size_t *volatile others[OTHERS];

// Makes a block that says at its end to have BYTES.
static size_t *make_block(size_t bytes)
{
	size_t *const end = static_cast<size_t *>(calloc(1, SIZE)) + SIZE / sizeof(size_t) - 2;

	end[0] = bytes;
	return end;
}

static NOINLINE void make_all()
{
	resource = new std::pmr::monotonic_buffer_resource(100);
	aligned = new std::pmr::monotonic_buffer_resource(100);
	for (int i = 0; i < PARTS; i++) {
		*static_cast<char *>(resource->allocate(PART)) = 1;
		*static_cast<char *>(aligned->allocate(PART, 32)) = 1;
	}
	others[0] = make_block(SIZE - 64);
	others[1] = make_block(SIZE + 64);
	others[2] = make_block(SIZE | 4) - 1;
	others[3] = make_block(SIZE | 4);
	others[3][1] = 100; // no address
}

int main()
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
