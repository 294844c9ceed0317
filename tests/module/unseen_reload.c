/* unseen_reload.c - runs each plugin of its arguments from a place of its own, through a library
 * that loads and unloads it.  Prints where each plugin lay. */
#include <stdio.h>

void *run_plugin(const char *path);

int main(int argc, char **argv)
{
	void *at[3] = {NULL};

	if (argc != 4)
		return 2;
	for (int round = 0; round < 3; round++) {
		at[0] = run_plugin(argv[1]);
		at[1] = run_plugin(argv[2]);
		at[2] = run_plugin(argv[3]);
	}
	printf("%p\n%p\n%p\n", at[0], at[1], at[2]);
	return at[0] == NULL;
}
