/* targets.c - see targets.h. */
#include "tools/elf/targets.h"

#include <stdlib.h>

#include "tools/base/binary_search.h"
#include "tools/base/memory.h"

void targets_add(struct targets *targets, uint64_t address, size_t symbol, bool slot)
{
	GROW(targets->all, targets->room, targets->count + 1);
	targets->all[targets->count++] = (struct target){address, symbol, slot};
}

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->symbol < b->symbol ? -1 : a->symbol > b->symbol;
}

void targets_sort(struct targets *targets)
{
	qsort(targets->all, targets->count, sizeof *targets->all, compare_targets);
}

const struct target *targets_find(const struct targets *targets, uint64_t address)
{
	size_t at;
	BINARY_SEARCH(at, targets->count, targets->all[at].address < address);
	return at < targets->count && targets->all[at].address == address ? &targets->all[at]
	                                                                  : NULL;
}
