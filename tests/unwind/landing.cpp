// landing.cpp - walks from destructors and handlers that run for an exception. They run behind
// landing pads, which compilers put into the cold part of a function.
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

extern "C" {
#include "compare.h"
#include "tests/noinline.h"
}

namespace
{

volatile int sink;

struct Guard {
	explicit Guard(int number) : number(number)
	{
	}
	NOINLINE ~Guard()
	{
		compare_here();
		sink += number;
	}
	int number;
};

NOINLINE void throws(int level)
{
	Guard guard(level);
	volatile char room[64] = {static_cast<char>(level)};

	if (level == 0)
		throw std::runtime_error("thrown");
	throws(level - 1);
	sink += room[0];
}

NOINLINE void rethrows(int level)
{
	try {
		throws(level);
	} catch (const std::logic_error &) {
		std::abort();
	} catch (...) {
		compare_here();
		throw;
	}
}

NOINLINE void aligned(int level)
{
	alignas(64) volatile char room[64] = {static_cast<char>(level)};

	try {
		rethrows(level);
	} catch (const std::exception &error) {
		std::string text(error.what());
		compare_here();
		sink += static_cast<int>(text.size()) + room[0];
	}
}

void use()
{
	for (int level = 0; level < 6; level++)
		aligned(level);
}

} // namespace

int main()
{
	compare_start();
	use();
	std::thread(use).join();
	return compare_report() ? 0 : 1;
}
