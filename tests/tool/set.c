/* set.c - allocates as the letters on standard input say, and says "done" after each line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE(name, size)                            \
	__attribute__((noinline)) void *name(void); \
	__attribute__((noinline)) void *name(void)  \
	{                                           \
		return malloc(size);                \
	}
SITE(first, 1000)
SITE(second, 2000)
SITE(third, 3000)

int main(void)
{
	char line[100];
	void *volatile kept;

	while (fgets(line, sizeof(line), stdin)) {
		for (unsigned i = 0; i < 10000; i++) {
			if (*line == '1')
				kept = first();
			if (*line == '2')
				kept = second();
			if (*line == '3')
				kept = third();
		}
		printf("done %s", line);
		fflush(stdout);
	}
	(void)kept;
	return 0;
}
