/* sparse_tables.c - a heap of large blocks, so that the tables are hardly touched, and three dumps.  Holds 1024 blocks of a
 * megabyte and 100 bytes. */
#include <stdlib.h>

#include "leakwrap.h"

static void *volatile kept;

int main(void)
{
	for (int i = 0; i < 1024; i++) {
		kept = malloc((size_t)1 << 20);
		kept = malloc(100);
	}
	for (int i = 0; i < 3; i++)
		leakwrap_dump(-1);
	return 0;
}
