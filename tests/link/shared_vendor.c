/* shared_vendor.c - a vendor's code, relinked into a shared object. */
#include <stdlib.h>
#include <string.h>

#include "shared_vendor.h"

static void *volatile kept;

void by_vendor(void)
{
	kept = malloc(123);
	kept = strdup("twelve bytes");
}

void freed_by_vendor(void *block)
{
	free(block);
}
