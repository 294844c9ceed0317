// throwing.cpp - the C++ part of the stress program's C++ variant: exceptions through wrapped
// operators and through frames that own memory, and a thread's objects that allocate in their
// destructors.
//
// It uses vectors, not strings, because libstdc++.so allocates and frees for strings outside the
// wrap.
#include <memory>
#include <new>
#include <vector>

extern "C" void stress_throw(unsigned long random);

namespace
{

using Bytes = std::vector<char>;

struct Parting {
	Bytes *kept = new Bytes(100, 'k');

	~Parting()
	{
		std::vector<Bytes> copies;

		for (int i = 0; i < 10; i++)
			copies.push_back(*kept);
		delete kept;
	}
};

thread_local Parting parting;

struct Problem {
	Bytes what;
};

// A quarter of the addresses of 32 bits may well be free.
const volatile size_t too_much =
        sizeof(size_t) == 4 ? static_cast<size_t>(-1) / 16 * 15 : static_cast<size_t>(-1) / 4;

[[gnu::noinline]] void throw_below(unsigned long random, int depth)
{
	std::vector<Bytes> owned(random % 5 + 1, Bytes(random % 100 + 20, 'o'));
	auto array = std::make_unique<char[]>(random % 5000 + 1);

	array[0] = owned[0][0];
	if (depth == 0) {
		if (random & 1)
			throw Problem{Bytes(random % 300, 'x')};
		// Asks for more memory than there is, so operator new throws.
		array.reset(static_cast<char *>(::operator new(too_much)));
	}
	throw_below(random >> 1, depth - 1);
}

} // namespace

extern "C" void stress_throw(unsigned long random)
{
	struct alignas(64) Wide {
		char bytes[200];
	};

	parting.kept->push_back('.');
	if (parting.kept->size() > 10000)
		parting.kept->clear();
	try {
		throw_below(random, static_cast<int>(random % 7));
	} catch (const std::bad_alloc &) {
		delete new Wide();
	} catch (const Problem &problem) {
		delete new Bytes(problem.what);
	}
}
