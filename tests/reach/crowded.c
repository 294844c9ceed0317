/* crowded.c - keeps blocks by pointers to each of their words, and loses those between. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { FIRST = 129, LAST = 512, WORDS = LAST / sizeof(void *) };

static struct {
	void *volatile words[LAST - FIRST + 1][WORDS];
} kept, again;

static NOINLINE void make(void)
{
	for (size_t size = FIRST; size <= LAST; size++) {
		void **const block = malloc(size);
		void *volatile *const lost = malloc(size);

		for (size_t i = 0; i < size / sizeof(void *); i++)
			kept.words[size - FIRST][i] = again.words[size - FIRST][i] = &block[i];
		lost[0] = NULL;
	}
}

int main(void)
{
	make();
	clear_stack();
	return raise(SIGUSR1);
}
