/* options.c - has three call sites, and raises the signals that its arguments name. Prints whether
 * it survived. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "tests/noinline.h"

static void *volatile kept;

static NOINLINE void small(void)
{
	kept = malloc(10);
}

static NOINLINE void medium(void)
{
	kept = malloc(1000);
}

static NOINLINE void large(void)
{
	kept = malloc(100000);
}

#ifdef DEFAULTS
const char *leakwrap_default_options(void);

const char *leakwrap_default_options(void)
{
	return DEFAULTS;
}
#endif

int main(int argc, char **argv)
{
	small();
	medium();
	large();
	for (int i = 1; i < argc; i++)
		raise(argv[i][0] == '+' ? SIGRTMIN + atoi(argv[i]) : atoi(argv[i]));
	printf("secure %lu\n", getauxval(AT_SECURE));
	return 0;
}
