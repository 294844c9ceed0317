/* nothing.c - allocates one block. It shows the least that the tracer costs, in time and memory. */
#include "workload.h"

int main(int argc, char **argv)
{
	struct workload workload = workload_of(argc, argv);
	char *block = malloc(100);

	workload_check(block != NULL, "malloc");
	strcpy(block, "a block");
	puts(block);
	if (!workload.keep)
		free(block);
	return 0;
}
