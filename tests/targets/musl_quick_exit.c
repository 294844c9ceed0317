/* musl_quick_exit.c [HOW] - registers 32 functions with at_quick_exit, as many as each C library
 * must take.  The one that is registered first runs last.  It frees a block, and with "again"
 * registers another function, which frees another block.  "none": registers none.  Prints how many
 * functions were refused, and how many ran. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ran, again;
static void *blocks[3];

static void run_again(void)
{
	free(blocks[1]);
	printf("%d\n", ++ran);
	fflush(stdout);
}

static void run_last(void)
{
	free(blocks[0]);
	printf("%d\n", ++ran);
	fflush(stdout);
	if (again && at_quick_exit(run_again) != 0)
		abort();
}

static void run(void)
{
	ran++;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int refused = 0;

	again = strcmp(how, "again") == 0;
	for (int i = 0; i < 3; i++)
		blocks[i] = malloc(1000);
	if (strcmp(how, "none") != 0) {
		refused += at_quick_exit(run_last) != 0;
		for (int i = 1; i < 32; i++)
			refused += at_quick_exit(run) != 0;
	}
	printf("refused: %d\n", refused);
	fflush(stdout);
	quick_exit(7);
}
