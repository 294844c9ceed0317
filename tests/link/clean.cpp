// clean.cpp - frees all that it allocates. The C and C++ libraries own all blocks that live at its
// end.
#include <iostream>
#include <sstream>

int main()
{
	std::ostream *stream = new std::stringstream;

	*stream << 1 << " and text that is longer than the string's own room";
	delete stream;
	std::cout << "clean" << std::endl;
	return 0;
}
