/* sparse_tables.c - holds 1024 blocks of a megabyte and 100 bytes, so that each table has few
 * entries, and takes three dumps. */
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
