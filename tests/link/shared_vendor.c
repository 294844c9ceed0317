/* shared_vendor.c - a vendor's code, relinked into a shared object. */
#include <stdlib.h>
#include <string.h>

#include "shared_vendor.h"

static void *volatile kept;

void by_vendor(void)
{
	void *aligned;

	if (posix_memalign(&aligned, 64, 64) == 0)
		kept = aligned;
	kept = malloc(123);
	kept = strdup("twelve bytes");
}

void freed_by_vendor(void *block)
{
	free(block);
}
