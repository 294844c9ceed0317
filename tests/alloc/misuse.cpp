// misuse.cpp CASE - operators new and delete, malloc and free, in right and in wrong pairs.
// misuse_own.cpp and misuse_arena.cpp define operators of the program's own.
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "tests/noinline.h"

// Hides a pointer from the compiler, which would warn.
static void *volatile hidden;

static NOINLINE void *by_malloc(unsigned long size)
{
	return hidden = std::malloc(size);
}

static NOINLINE void *by_new(unsigned long size)
{
	return hidden = ::operator new(size);
}

static NOINLINE void *by_array(unsigned long size)
{
	return hidden = ::operator new[](size);
}

static NOINLINE void to_free(void *block)
{
	hidden = block;
	std::free(hidden);
}

static NOINLINE void to_delete(void *block)
{
	hidden = block;
	::operator delete(hidden);
}

static NOINLINE void to_array(void *block)
{
	hidden = block;
	::operator delete[](hidden);
}

static void *(*volatile malloc_one)(std::size_t) = &std::malloc;
static void *(*volatile new_one)(std::size_t) = &::operator new;

// misuse_own.cpp defines it, if it is linked.
void *own_new() __attribute__((weak));
void own_delete(void *block) __attribute__((weak));

static char buffer[100];

// The function ends with the deletion, so a compiler takes the frame down before it.
template <int size> static NOINLINE void delete_local(char value)
{
	char local[size];

	for (int i = 0; i < size; i++)
		static_cast<volatile char *>(local)[i] = value;
	char *const data = local;
	delete[] data;
}

static NOINLINE void proper()
{
	std::map<std::string, std::vector<std::string>> map;

	for (int i = 0; i < 100; i++) {
		std::ostringstream text;
		text << "a string that does not fit into the object itself, number " << i;
		map[text.str()].push_back(text.str());
	}
	to_free(by_malloc(10));
	to_delete(by_new(10));
	to_array(by_array(10));
	delete[] new std::string[3];
	delete new (std::nothrow) long;
	::operator delete(::operator new(100, std::align_val_t(64)), std::align_val_t(64));
	for (int i = 0; i < 4; i++) { // from one call site
		hidden = (i % 2 ? new_one : malloc_one)(30);
		(i % 2 ? to_delete : to_free)(hidden);
	}
	try {
		throw std::string("thrown");
	} catch (const std::string &) {
	}
	if (own_new) {
		own_delete(own_new());
		own_delete(by_new(20));
		to_delete(own_new());
	}
}

int main(int argc, char **argv)
{
	const std::string wanted = argc > 1 ? argv[1] : "";

	if (wanted == "new-free")
		to_free(by_new(40));
	if (wanted == "new-array")
		to_array(by_new(40));
	if (wanted == "array-delete")
		to_delete(by_array(40));
	if (wanted == "array-free")
		to_free(by_array(40));
	if (wanted == "malloc-delete")
		for (volatile int i = 0; i < 3; i = i + 1) // reported once
			to_delete(by_malloc(40));
	if (wanted == "malloc-array")
		to_array(by_malloc(40));
	if (wanted == "new-realloc")
		std::free(hidden = std::realloc(by_new(40), 1000));
	if (wanted == "delete-twice") {
		void *block = by_new(40);
		to_delete(block);
		to_delete(block);
	}
	if (wanted == "local")
		delete_local<20>(1);
	if (wanted == "large-local")
		delete_local<50000>(1);
	if (wanted == "static")
		to_delete(buffer + 16);
	if (wanted == "literal")
		to_array(const_cast<char *>("literal"));
	if (wanted == "new-deleted")
		to_delete(own_new());
	if (wanted == "proper")
		proper();
}
