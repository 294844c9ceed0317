/* aligned_structures.c - holds structures as Hyperscan does: at the first multiple of 64 in a
 * block, whose address is behind many words of the structure.  Other structures have another
 * address, lie farther from the block's start, or are not aligned.  Then the program asks for a
 * dump. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { ALIGNMENT = 64, WORDS = 120, KEPT = 20, OTHERS = 4, ALIGNED_MAX = 100 };

struct structure {
	void *volatile word[WORDS];
};

#define SIZE (sizeof(struct structure) + (size_t)4 * ALIGNMENT)

static struct structure *volatile kept[KEPT], *volatile others[OTHERS];
static char *volatile aligned[ALIGNED_MAX];

/* Returns a block that does not begin at a multiple of 64. */
static char *allocate(void)
{
	static unsigned count;
	char *block = malloc(SIZE);

	while (count < ALIGNED_MAX && (uintptr_t)block % ALIGNMENT == 0) {
		aligned[count++] = block;
		block = malloc(SIZE);
	}
	return block;
}

/* Returns a structure FARTHER bytes behind the first multiple of 64 in a block.  Its word
 * NUMBER is the block's address. */
static NOINLINE struct structure *make_structure(unsigned number, unsigned farther)
{
	char *const block = allocate();
	const uintptr_t start = ((uintptr_t)block + ALIGNMENT) & -(uintptr_t)ALIGNMENT;
	struct structure *const structure = (struct structure *)(start + farther);

	for (unsigned i = 0; i < WORDS; i++)
		structure->word[i] = i == number ? block : NULL;
	return structure;
}

int main(void)
{
	others[0] = make_structure(30, ALIGNMENT);
	others[1] = make_structure(30, 8);
	others[2] = make_structure(96, 0);
	others[3] = make_structure(30, 0);
	others[3]->word[30] = (char *)others[3]->word[30] + 8;
	for (unsigned i = 0; i < KEPT; i++)
		kept[i] = make_structure(16 + 4 * i, 0);
	clear_stack();
	return raise(SIGUSR1);
}
