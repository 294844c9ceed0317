/* environment.c - puts an environment of its own in the place of the one above its stack, before it allocates. */
#include <stdlib.h>
#include <unistd.h>

static void *volatile kept;
static char *own[] = {(char[]){"PATH=/bin"}, NULL};

int main(void)
{
	environ = own;
	kept = malloc(10);
	return 0;
}
