/* elements.c - holds blocks as Berkeley DB does where it keeps a region in the heap: a block begins
 * with its size, and the program has what is behind, an element.  Distances link the elements of a
 * list.  Similar blocks hold nothing. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { LISTS = 5, LINKED = 20, DATA = 40, HEADER = sizeof(uint64_t) };

/* The head of a list in an element, with the distance from itself to the first element.  Berkeley
 * DB has such a head in DB_MPOOL_HASH (src/dbinc/mp.h). */
struct head {
	uintptr_t lock;
	intptr_t first, last;
};

struct element {
	uintptr_t lock;
	intptr_t next; /* the distance from the element to the next one */
	uintptr_t data[DATA];
};

static struct head *volatile table, *volatile others;
static void *volatile empty;

/* Allocates an element of SIZE bytes, behind a size that is MORE bytes too large. */
static void *make(size_t size, size_t more)
{
	uint64_t *const block = calloc(1, HEADER + size);

	*block = HEADER + size + more;
	return block + 1;
}

static intptr_t distance(const void *from, const void *to)
{
	return (intptr_t)((uintptr_t)to - (uintptr_t)from);
}

static NOINLINE struct head *make_table(size_t more)
{
	struct head *const heads = make(LISTS * sizeof(*heads), more);

	for (int i = 0; i < LISTS; i++)
		heads[i].first = -1;
	return heads;
}

static NOINLINE void add(struct head *head, struct element *element)
{
	element->next = -1;
	if (head->first != -1)
		element->next = distance(element, (char *)&head->first + head->first);
	head->first = distance(&head->first, element);
}

/* Of each list that holds nothing, one block alone is lost: its size is another, its element begins
 * elsewhere, the distance to it stands too far behind, or the table's size is another. */
static NOINLINE void make_others(void)
{
	struct element *far = make(sizeof(*far), 0);

	others = make_table(0);
	add(&others[0], make(sizeof(*far), 1));
	add(&others[1], make(sizeof(*far), 0));
	others[1].first += HEADER;
	add(&others[2], far);
	far->data[DATA - 1] = (uintptr_t)distance(far, make(sizeof(*far), 0));
	table[LISTS - 1].last = 1;
}

static struct head *volatile larger;

static NOINLINE void make_larger(void)
{
	larger = (struct head *)((char *)make_table(1) - HEADER);
	add((struct head *)((char *)larger + HEADER), make(sizeof(struct element), 0));
}

int main(void)
{
	table = make_table(0);
	for (int i = 0; i < LISTS * LINKED; i++)
		add(&table[i % LISTS], make(sizeof(struct element), 0));
	empty = make(0, 0);
	make_others();
	make_larger();
	clear_stack();
	return raise(SIGUSR1);
}
