/* aligned_parts.c LIBRARY... - holds blocks as programs do that align them by themselves: by an
 * aligned pointer, with the block's own address in front of it.  Some are aligned to a word, behind
 * this address alone.  One pointer has no such address in front.  Loads the libraries: for each
 * glibc makes such a block, too.  Then asks for a dump. */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

enum { ALIGNMENT = 64, SIZE = 200, PARTS = 50 };

static char *volatile part[PARTS];
static char *volatile of_word[PARTS];
static char *volatile other;

static char *allocate_aligned(void)
{
	char *const block = malloc(SIZE);
	char *const aligned = block + ALIGNMENT - (uintptr_t)block % ALIGNMENT;

	((char **)aligned)[-1] = block;
	return aligned;
}

/* Returns what is behind the block's address. */
static char *allocate_behind_address(void)
{
	char **const block = malloc(SIZE);

	*block = (char *)block;
	return (char *)(block + 1);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < PARTS; i++) {
		part[i] = allocate_aligned();
		of_word[i] = allocate_behind_address();
	}
	other = calloc(1, SIZE);
	other += ALIGNMENT;
	for (int i = 1; i < argc; i++)
		if (!dlopen(argv[i], RTLD_NOW))
			return 1;
	return raise(SIGUSR1);
}
