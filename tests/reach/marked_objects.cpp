// marked_objects.cpp - holds objects with a vtable by pointers with marks in the lowest bits, as
// Boost.JSON holds shared resources.  Other pointers lead to the second byte of a block without a
// vtable, and behind that of an object's second word.
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { KEPT = 60, OTHERS = 3 };

struct resource {
	virtual ~resource() = default;
	virtual int allocate()
	{
		return number;
	}
	int number = 0;
	uintptr_t counts[4] = {};
};

static volatile uintptr_t kept[KEPT], others[OTHERS];

static NOINLINE void make_all()
{
	for (int i = 0; i < KEPT; i++)
		kept[i] = reinterpret_cast<uintptr_t>(new resource) + 1 + i % 3;
	others[0] = reinterpret_cast<uintptr_t>(new resource) + 2 * sizeof(uintptr_t) + 1;
	others[1] = reinterpret_cast<uintptr_t>(new uintptr_t[8]()) + 1;
	auto *const numbers = new uintptr_t[8]();
	numbers[0] = 1;
	others[2] = reinterpret_cast<uintptr_t>(numbers) + 2;
}

int main()
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
