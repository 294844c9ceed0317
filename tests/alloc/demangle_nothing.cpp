/* demangle_nothing.cpp - demangles names, and passes a length that cannot be read where the C++
 * library does not read it. */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>

static std::size_t *volatile nowhere = reinterpret_cast<std::size_t *>(0x10000);

static void demangle(const char *mangled, char *buffer, std::size_t *length)
{
	int status = 77;
	char *name = abi::__cxa_demangle(mangled, buffer, length, &status);

	std::printf("%s, status %d\n", name ? name : "none", status);
	std::free(name);
}

int main()
{
	char *buffer = static_cast<char *>(std::malloc(4));
	std::size_t length = 4;

	demangle("no name", nullptr, nowhere);
	demangle("no name", buffer, nowhere);
	demangle("_Z8functioni", buffer, &length);
	demangle("_Z8functioni", nullptr, nullptr);
	return 0;
}
