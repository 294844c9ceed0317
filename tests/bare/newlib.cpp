// newlib.cpp - the C++ part of the program newlib.c: operators new and delete.
#include <new>

extern "C" void in_cxx(void);

namespace
{

struct thing {
	int words[10];
	thing();
};

thing::thing() : words()
{
}

thing *volatile kept;

} // namespace

void in_cxx(void)
{
	kept = new thing;
	delete kept;
	kept = new thing[3];
}
