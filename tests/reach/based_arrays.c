/* based_arrays.c - holds arrays as Open CASCADE does: by the address that element 0 would have, in
 * a structure with the lowest and the highest number (NCollection_Array1.hxx and
 * NCollection_Array2.hxx).  Similar structures hold other blocks so: they are lost.  Then the
 * program asks for a dump. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { KEPT = 40, COUNT = 20, OTHERS = 5 };

/* The addresses are numbers: no pointer leads there. */
struct array {
	int lowest, highest;
	bool has_allocated;
	uintptr_t elements;
};

struct rows {
	int lowest_row, highest_row, lowest_column, highest_column;
	uintptr_t table;
	char *volatile elements;
	bool has_allocated;
};

static struct array first, arrays[KEPT], others[OTHERS];
static struct rows tables[KEPT], false_table;

/* Makes an array of COUNT elements of SIZE bytes whose lowest number is LOWEST.  By new[] their
 * number may be in front of them. */
static NOINLINE void make_array(struct array *array, int lowest, unsigned size, bool has_cookie)
{
	const size_t cookie = has_cookie ? sizeof(uintptr_t) : 0;
	char *const block = calloc(1, COUNT * (size_t)size + cookie);

	if (has_cookie)
		*(uintptr_t *)(void *)block = COUNT;
	array->lowest = lowest;
	array->highest = lowest + COUNT - 1;
	array->has_allocated = true;
	array->elements = (uintptr_t)block + cookie - (uintptr_t)(intptr_t)lowest * size;
	/* cppcheck-suppress memleak ; the block is kept by the array */
}

static NOINLINE void make_table(struct rows *rows, int lowest)
{
	char **const table = calloc(COUNT, sizeof(*table));

	rows->lowest_row = lowest;
	rows->highest_row = lowest + COUNT - 1;
	rows->lowest_column = 1;
	rows->highest_column = 9;
	rows->elements = calloc(COUNT, 9);
	rows->has_allocated = true;
	for (int i = 0; i < COUNT; i++)
		table[i] = rows->elements + (ptrdiff_t)9 * i;
	rows->table = (uintptr_t)table - (uintptr_t)(intptr_t)lowest * sizeof(*table);
	/* cppcheck-suppress memleak ; the table is kept by its rows */
}

static NOINLINE void make_others(void)
{
	/* Their addresses are right in front of the blocks, so that they lead to no other ones. */
	for (int i = 0; i < OTHERS; i++)
		make_array(&others[i], 1, 2 * sizeof(uintptr_t), i == 4);
	others[0].highest++;
	others[1].has_allocated = false;
	others[2].lowest = 0;
	others[3].elements += 2;
	((uintptr_t *)(others[4].elements + sizeof(uintptr_t)))[0]++;
	make_table(&false_table, 1);
	false_table.highest_row++;
}

int main(void)
{
	static const unsigned sizes[] = {1, 2, 4, 8, 12, 24, 512};

	/* The address is in front of all blocks. */
	make_array(&first, 1, 24, false);
	make_others();
	for (int i = 0; i < KEPT; i++) {
		make_array(&arrays[i], i < 20 ? 1 : i - 30, sizes[i % 7], i % 3 == 0);
		make_table(&tables[i], i % 2 ? 1 : i - 20);
	}
	clear_stack();
	return raise(SIGUSR1);
}
