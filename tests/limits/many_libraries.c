/* many_libraries.c LIBRARY... - loads the libraries, and opens and closes the first of them again
 * and again.  Prints how many system calls the tracer made for the last library that was loaded,
 * and how many while nothing was loaded. */
#include "tests/limits/tracer_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 1000 };

int main(int argc, char **argv)
{
	unsigned long before = 0, of_last;

	free(malloc(1));
	for (int i = 1; i < argc; i++) {
		before = tracer_calls;
		if (!dlopen(argv[i], RTLD_NOW))
			return 1;
	}
	of_last = tracer_calls - before;
	before = tracer_calls;
	for (int i = 0; i < ROUNDS; i++) {
		void *const handle = dlopen(argv[1], RTLD_NOW);

		if (!handle || dlclose(handle) != 0)
			return 2;
	}
	printf("%lu %lu\n", of_last, tracer_calls - before);
	return 0;
}
