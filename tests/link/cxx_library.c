/* cxx_library.c - a C program whose shared library is written in C++. */
#include <stdlib.h>

int length_of(int count);

int main(void)
{
	void *volatile leak = malloc(300);
	(void)leak;
	return length_of(40);
}
