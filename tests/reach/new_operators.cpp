/* new_operators.cpp - an operator new that puts a header in front of each block (new_headers.h). */
#include <cstdlib>
#include <new>

#include "tests/reach/new_headers.h"

header *header_of(void *block)
{
	return static_cast<header *>(block) - 1;
}

void *operator new(size_t size)
{
	header *const in_front = static_cast<header *>(malloc(sizeof(header) + size));

	if (!in_front)
		throw std::bad_alloc();
	in_front->note = nullptr;
	return in_front + 1;
}

void operator delete(void *block) noexcept
{
	if (block)
		free(header_of(block));
}

void operator delete(void *block, size_t) noexcept
{
	operator delete(block);
}
