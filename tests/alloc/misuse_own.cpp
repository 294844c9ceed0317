// misuse_own.cpp - operators new and delete made of malloc and free. Calls in this file go past
// the wrap, and compilers inline them: a new elsewhere is a malloc here.
#include <cstdlib>
#include <new>

void *operator new(std::size_t size)
{
	void *block = std::malloc(size);

	if (!block)
		throw std::bad_alloc();
	return block;
}

void operator delete(void *block) noexcept
{
	std::free(block);
}

void operator delete(void *block, std::size_t) noexcept
{
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
