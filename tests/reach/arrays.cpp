// arrays.cpp - arrays by new[], each of which is held by a pointer to its elements.
#include <csignal>
#include <cstdlib>

#include "tests/clear_stack.h"

enum { COUNT = 100, LOST = 7 };

struct Word {
	int *volatile pointer;
	Word() : pointer(nullptr)
	{
	}
	~Word()
	{
		delete pointer;
	}
};

static void *volatile held[COUNT];
static void *volatile ends[2];

// Keeps arrays of SIZE elements, and loses a few.
template <typename Element, size_t SIZE> static NOINLINE void make()
{
	const volatile size_t size = SIZE; // the compiler makes no constant of it

	for (void *volatile &array : held)
		array = new Element[size];
	for (unsigned i = 0; i < LOST; i++) {
		Element *volatile lost = new Element[size];

		lost = nullptr;
		(void)lost;
	}
}

// A block that holds something else, and one of another size, are no empty arrays.
static NOINLINE void make_others()
{
	size_t *const number = new size_t(5);
	size_t *const zeros = static_cast<size_t *>(calloc(2, sizeof(size_t)));

	ends[0] = number + 1;
	ends[1] = zeros + 2;
}

int main(int argc, char **argv)
{
	switch (argc > 1 ? *argv[1] : 0) {
	case 'e':
		make<Word, 0>();
		make_others();
		break;
	}
	clear_stack();
	return raise(SIGUSR1);
}
