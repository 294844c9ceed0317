/* two_tracers.c - a traced program that is linked with the shared object of shared_vendor.c, which
 * may have a tracer, too. */
#include <stdlib.h>

#include "shared_vendor.h"

int main(void)
{
	for (int i = 0; i < 10; i++)
		by_vendor();
	freed_by_vendor(malloc(50));
	return 9;
}
