/* puts.c - a program that calls none of the wrapped functions. */
#include <stdio.h>

int main(void)
{
	puts("nothing but puts");
	return 3;
}
