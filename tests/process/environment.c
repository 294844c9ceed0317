/* environment.c - replaces the environment above its stack with its own before it allocates. */
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
