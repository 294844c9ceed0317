// leaks.cpp - leaks in functions of their own. Prints "leaks FUNCTION BYTES BLOCKS" for each.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#define APART extern "C" __attribute__((noinline))

static void *volatile kept;

APART void by_new()
{
	for (int i = 0; i < 5; i++)
		kept = operator new(200);
}

APART void by_array()
{
	kept = operator new[](3000);
}

APART void by_nothrow()
{
	kept = operator new(77, std::nothrow);
}

APART void by_aligned()
{
	kept = operator new(640, std::align_val_t(64));
}

APART void by_malloc()
{
	kept = std::malloc(50);
}

APART void nothing()
{
	for (int i = 0; i < 100; i++) {
		operator delete(operator new(30));
		operator delete[](operator new[](30), std::nothrow);
		operator delete(operator new(128, std::align_val_t(128)), std::align_val_t(128));
	}
}

int main()
{
	by_new();
	by_array();
	by_nothrow();
	by_aligned();
	by_malloc();
	nothing();
	try {
		throw std::runtime_error("an exception that passes through allocated memory");
	} catch (const std::exception &caught) {
		std::puts(caught.what());
	}
	std::puts("leaks by_new 1000 5\nleaks by_array 3000 1\nleaks by_nothrow 77 1\n"
	          "leaks by_aligned 640 1\nleaks by_malloc 50 1\nleaks nothing 0 0");
	return 5;
}
