/* execute_only.c - leaks a block below two functions. */
#include <stdlib.h>

static char *volatile kept;

void leak(int size);
void middle(int size);

__attribute__((noinline)) void leak(int size)
{
	kept = malloc((size_t)size);
	kept[0] = 1;
}

__attribute__((noinline)) void middle(int size)
{
	volatile char place[100];

	place[size] = 1;
	leak(size);
	kept[1] = place[size];
}

int main(void)
{
	middle(44);
	return 0;
}
