// misuse_arena.cpp - operators new and delete with an arena in static memory. Calls in this file go
// past the wrap. Other files delete the blocks.
#include <cstddef>
#include <cstdlib>
#include <new>

static char arena[1 << 16] __attribute__((aligned(16))) = {1};
static std::size_t used;

static bool is_in_arena(const void *block)
{
	return block >= arena && block < arena + sizeof(arena);
}

void *operator new(std::size_t size)
{
	const std::size_t at = used;

	if (size > sizeof(arena) || at > sizeof(arena) - size) {
		void *block = std::malloc(size);

		if (!block)
			throw std::bad_alloc();
		return block;
	}
	used = (at + size + 15) / 16 * 16;
	return arena + at;
}

void operator delete(void *block) noexcept
{
	if (!is_in_arena(block))
		std::free(block);
}

void operator delete(void *block, std::size_t) noexcept
{
	if (!is_in_arena(block))
		std::free(block);
}

void *own_new()
{
	return ::operator new(20);
}

void own_delete(void *block)
{
	::operator delete(block);
}
