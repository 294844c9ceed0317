/* unseen_frees_library.c - a shared library that is not wrapped. */
#include "unseen_frees.h"

#include <stdlib.h>

void *library_makes(size_t size)
{
	return malloc(size);
}

void library_frees(void *block)
{
	free(block);
}
