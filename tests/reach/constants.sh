#!/bin/sh
# Pages of a file hold no pointers until the program has written to them: constants that look like
# addresses keep no block. What the program wrote counts, also when it may only read it now.
. tests/lib.sh

cat >"$W/constants.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 65536

static __attribute__((noinline)) void *lose_constant(void)
{
	return malloc(40);
}

static __attribute__((noinline)) void *keep_written(void)
{
	return malloc(50);
}

int main(void)
{
	FILE *file = tmpfile();
	void *constant = lose_constant();
	void *volatile *page;
	int fd;

	if (!file || ftruncate(fd = fileno(file), 2 * PAGE) != 0 ||
	    pwrite(fd, &constant, sizeof(constant), 0) != sizeof(constant))
		return 2;
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return 2;
	page[PAGE / sizeof(*page)] = keep_written();
	if (page[0] != constant || mprotect((void *)page, 2 * PAGE, PROT_READ) != 0)
		return 2;
	constant = NULL;
	return 0;
}
END
for link in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build constants "$W/constants.c" $link
	LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/constants" || fail "$link: status $?"
	equal "$link: lost" "$(dump_value "$W/log" 1 definite_bytes)" 40
	equal "$link: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" 0
	rm "$W/log"
done
