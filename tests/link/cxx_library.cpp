/* A shared library that takes and gives back memory by the C++ operators. */
#include <string>

extern "C" int length_of(int count)
{
	std::string text(static_cast<std::size_t>(count), 'x');
	return static_cast<int>(text.size());
}
