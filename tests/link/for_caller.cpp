// for_caller.cpp - libraries allocate blocks for the program, which never frees them: a growing
// string, a regular expression, a stream, a folder and an obstack.
#include <dirent.h>
#include <obstack.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

struct Base {
	int number = 0;
};

// Base has no virtual destructor, so the name is never freed.
struct Derived : Base {
	std::string name;
};

__attribute__((noinline)) static Base *make(int length)
{
	Derived *made = new Derived;

	for (int i = 0; i < length; i++)
		made->name += "0123456789";
	return made;
}

int main(int argc, char **argv)
{
	static regex_t expression;
	static obstack stack;

	if (argc == 1)
		return 0;
	switch (argv[1][0]) {
	case 's':
		delete make(50);
		return 0;
	case 'r':
		return regcomp(&expression, "a[bc]*d", REG_EXTENDED);
	case 'f':
		return fopen("/dev/null", "r") == nullptr;
	case 'd':
		return opendir("/") == nullptr;
	case 'o':
		obstack_init(&stack);
		return obstack_alloc(&stack, 10000) == nullptr;
	}
	return 2;
}
