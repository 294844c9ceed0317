/* overflowing_new.cpp - asks aligned operator new for more bytes than there are.  Some C++
 * libraries round the size up, overflow, and return a small block. */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>

static volatile std::size_t most = SIZE_MAX;

int main()
{
	try {
		std::puts(operator new(most, std::align_val_t(64)) ? "a block" : "no block");
	} catch (const std::bad_alloc &) {
		std::puts("an exception");
	}
	return 0;
}
