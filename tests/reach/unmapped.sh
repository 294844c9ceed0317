#!/bin/sh
# A block that was freed unseen may have no memory any more: a scan that finds a pointer into the
# block goes on.
. tests/lib.sh

cat >"$W/gone.c" <<'END'
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/clear_stack.h"

#define SIZE ((size_t)1 << 20)

char *into[3];
void *kept;

static __attribute__((noinline)) void lose(void)
{
	char *block = malloc(SIZE);

	/* Each may be a usual way to hold the block. */
	into[0] = block + sizeof(void *);
	into[1] = block + 3 * sizeof(void *);
	into[2] = block + SIZE / 2;
	/* The allocator's pages, as a library's free gives them back. */
	munmap((void *)((uintptr_t)block & ~(uintptr_t)4095), SIZE);
}

int main(void)
{
	/* It takes the place of what was mapped while the program started.  A word that was left on
	 * the stack then may lead there. */
	kept = malloc(SIZE);
	lose();
	clear_stack();
	return 0;
}
END
for link in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build gone "$W/gone.c" $link
	LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/gone" || fail "$link: status $?"
	equal "$link: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" 1048576
	grep -q '\] end ' "$W/log" || fail "$link: no whole dump"
	rm "$W/log"
done
