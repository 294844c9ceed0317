#!/bin/sh
# What glibc's malloc keeps of freed memory leads to no block: in front of the first live block, and
# where few of its bins are empty.
. tests/lib.sh

# The first block, an index of the others, is freed. Or blocks of many sizes between live blocks are
# freed, and then one behind a lost block: the bin of that one points to the end of the lost block.
cat >"$W/freed.c" <<'END'
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

static void **volatile lost;
static void *volatile kept[2000];

static NOINLINE void *filled(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	return block;
}

static NOINLINE void lose_by_index(void)
{
	lost = malloc(110 * sizeof(*lost));
	for (int i = 10; i < 110; i++)
		lost[i] = filled(100);
	free(lost);
	lost = NULL;
}

static NOINLINE void fill_bins(void)
{
	static void *freed[2000];
	int count = 0;

	for (int size = 0; size < 110; size++)
		for (int i = 0; i < 8; i++, count++) {
			freed[count] = filled(size < 62 ? 40 + 16u * (unsigned)size
			                                : 1032 + 512u * (unsigned)(size - 62));
			kept[count] = malloc(16);
		}
	for (int i = 0; i < count; i++)
		free(freed[i]);
	memset(freed, 0, sizeof(freed));
	free(malloc(1000000)); /* sorts what was freed into the bins */
}

static NOINLINE void lose_before_free(void)
{
	void *volatile behind;

	lost = filled(5000);
	lost = NULL;
	behind = malloc(5000);
	kept[1999] = malloc(16);
	free(behind);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		fill_bins();
		lose_before_free();
	} else {
		lose_by_index();
	}
	return 0;
}
END
for link in dynamic static; do
	flag=
	[ $link = dynamic ] || flag=-static
	# shellcheck disable=SC2086 # one flag or none
	build $link "$W/freed.c" $flag
	LEAKWRAP_OPTIONS="log=$W/$link.front" "$W/$link" || fail "$link"
	equal "$link, in front" "$(dump_value "$W/$link.front" 1 definite_blocks)" 100
	LEAKWRAP_OPTIONS="log=$W/$link.bins" "$W/$link" bins || fail "$link bins"
	equal "$link, bins" "$(dump_value "$W/$link.bins" 1 definite_blocks) $(
		dump_value "$W/$link.bins" 1 possible_blocks)" "1 0"
done
