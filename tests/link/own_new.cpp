// own_new.cpp - operators new and delete that a program brings in an archive.
#include <cstdlib>
#include <new>

extern "C" int own_calls;
int own_calls;

void *operator new(std::size_t size)
{
	own_calls++;
	if (void *block = std::malloc(size))
		return block;
	throw std::bad_alloc();
}

void operator delete(void *block) noexcept
{
	std::free(block);
}

void operator delete(void *block, std::size_t) noexcept
{
	std::free(block);
}
