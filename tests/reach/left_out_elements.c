/* left_out_elements.c - holds arrays as Emacs and SBCL do, which leave the first element out.  They
 * have the address of the second one.  Beside it stands how many elements there are without the
 * first, or without the first and the last.  Similar blocks are no such arrays. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 50, LOST = 3, ELEMENTS = 51, FEW = 32 };

struct element {
	void *word[5];
};

/* One that stands in memory, with what is beside it. */
struct holder {
	size_t in_front;
	void *pointer;
	size_t behind;
};

static volatile struct holder with_number_in_front[KEPT], with_number_behind[KEPT];
static volatile struct holder of_words[KEPT];
static struct holder *volatile in_a_block;
static volatile struct holder others[7];

static struct element *make(size_t elements)
{
	struct element *const array = calloc(elements, sizeof(*array));

	if (!array)
		exit(2);
	return array;
}

static NOINLINE void keep_arrays(void)
{
	struct holder *const holder = calloc(1, sizeof(*holder));

	for (unsigned i = 0; i < KEPT; i++) {
		with_number_in_front[i].in_front = ELEMENTS - 1 + i;
		with_number_in_front[i].pointer = make(ELEMENTS + i) + 1;
		with_number_behind[i].pointer = make(ELEMENTS + i) + 1;
		with_number_behind[i].behind = ELEMENTS - 1 + i;
	}
	for (unsigned i = 0; i < KEPT; i++) {
		void **const words = calloc(ELEMENTS + i, sizeof(void *));

		of_words[i].pointer = words + 1;
		of_words[i].behind = ELEMENTS - 2 + i;
	}
	holder->in_front = ELEMENTS - 1;
	holder->pointer = make(ELEMENTS) + 1;
	in_a_block = holder;
}

/* Keeps blocks that are possibly lost. */
static NOINLINE void keep_others(void)
{
	char *const larger = calloc(ELEMENTS, sizeof(struct element) + 4);

	others[0].pointer = make(ELEMENTS) + 1; /* no number beside it */
	others[1].pointer = make(ELEMENTS) + 1;
	others[1].in_front = others[1].behind = ELEMENTS; /* of all elements */
	others[2].pointer = make(ELEMENTS) + 2;
	others[2].behind = ELEMENTS - 2; /* a third element */
	others[3].pointer = make(ELEMENTS) + 1;
	others[3].behind = ELEMENTS - 3; /* fewer elements */
	others[4].pointer = make(FEW) + 1;
	others[4].behind = FEW - 1; /* few elements */
	others[5].pointer = larger + sizeof(struct element) + 4;
	others[5].in_front = ELEMENTS; /* elements of another size */
	others[6].pointer = (char *)make(ELEMENTS) + sizeof(struct element) - 1;
	others[6].behind = ELEMENTS - 1; /* not aligned */
} /* cppcheck-suppress memleak ; on purpose */

static NOINLINE void lose_arrays(void)
{
	for (unsigned i = 0; i < LOST; i++)
		make(ELEMENTS)->word[1] = NULL;
}

int main(void)
{
	lose_arrays();
	keep_others();
	keep_arrays();
	clear_stack();
	return raise(SIGUSR1);
}
