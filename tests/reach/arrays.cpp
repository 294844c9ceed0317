// arrays.cpp - arrays by new[], each of which is held by a pointer to its elements.
#include <csignal>
#include <cstdint>
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

struct Byte {
	volatile char byte = 1;
	~Byte()
	{
		byte = 0;
	}
};

struct alignas(2 * sizeof(void *)) Pair {
	Word words[2];
};

struct alignas(64) Line {
	Word words[4];
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
	// cppcheck-suppress memleak ; on purpose
}

// A pointer behind the length of the rest, as in HDF5's lists of free blocks.
static NOINLINE void make_lengths()
{
	for (void *volatile &bytes : held) {
		uint64_t *const length = static_cast<uint64_t *>(malloc(sizeof(*length) + 3));

		*length = 3;
		bytes = length + 1;
	}
}

// The word in front is no number of elements: with this alignment, half of the rest is none.
static NOINLINE void make_no_arrays()
{
	for (void *volatile &part : held) {
		size_t *const words = static_cast<size_t *>(calloc(8, sizeof(size_t)));

		words[1] = 2;
		part = words + 2;
	}
}

int main(int argc, char **argv)
{
	switch (argc > 1 ? *argv[1] : 0) {
	case 'e':
		make<Word, 0>();
		make_others();
		break;
	case 'w':
		make<Word, 3>();
		break;
	case 'b':
		make<Byte, 3>();
		break;
	case 'p':
		make<Pair, 3>();
		break;
	case 'l':
		make<Line, 3>();
		break;
	case 'r':
		make_lengths();
		break;
	case 'n':
		make_no_arrays();
		break;
	}
	clear_stack();
	return raise(SIGUSR1);
}
