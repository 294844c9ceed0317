/* jumped.c - leaves free by siglongjmp, as a signal handler may, and then frees a block that was never recorded below the
 * one that was left.  Ends with 0 when that happened. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "leakwrap.h"
#include "own_malloc.h"

static sigjmp_buf escape;
static void *volatile hidden;

static volatile sig_atomic_t armed;

void own_malloc_freed(void)
{
	if (armed) {
		armed = 0;
		siglongjmp(escape, 1);
	}
}

int main(void)
{
	static char *lower, *upper;

	lower = malloc(40);
	upper = malloc(40);

	hidden = upper;
	if (sigsetjmp(escape, 1) == 0) {
		armed = 1;
		free(hidden);
		return 1;
	}
	hidden = malloc(40);
	if (hidden != upper || lower > upper)
		return 2;
	leakwrap_forget(lower);
	free(lower);
	return 0;
}
