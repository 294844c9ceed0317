/* cxx_library.cpp - a shared library that allocates and frees by the C++ operators. */
#include <string>

extern "C" int length_of(int count)
{
	std::string text(static_cast<std::size_t>(count), 'x');
	return static_cast<int>(text.size());
}
