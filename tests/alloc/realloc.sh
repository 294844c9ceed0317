#!/bin/sh
# realloc moves a block to its caller's call site, and a failed realloc leaves the record as it was.
#
# This also holds if the tracer recognizes the stack, samples, and looks for misuse. A block that
# the program hid stays hidden. A realloc to no bytes frees the block, unless it fails.
. tests/lib.sh

# check OPTIONS BYTES BLOCKS: BYTES in BLOCKS are live that a realloc to no bytes has not freed.
check() {
	log=$W/log
	LEAKWRAP_OPTIONS=$1 "$program" 2>"$log" || fail "$program, $1: status $?"
	equal "$1: resized" "$(site_by "$log" 1 resize)" "$((5 * (100 + 90))) 10"
	equal "$1: failed to resize" "$(site_by "$log" 1 make)" "$((5 * 60)) 5"
	equal "$1: resized while disabled" "$(site_by "$log" 1 make_other)" \
		"$((5 * 120 + $2)) $((5 + $3))"
	equal "$1: freed elsewhere" "$(dump_value "$log" 1 freed_elsewhere_blocks)" 0
	equal "$1: foreign frees" "$(dump_value "$log" 1 foreign_frees)" 0
}

for static in '' -static; do
	build "resize$static" $static tests/alloc/realloc.c
	program=$W/resize$static
	for options in exit=1 misuse=report; do
		check $options 0 0
	done
	# A sample of each block. It has no hidden blocks.
	LEAKWRAP_OPTIONS=sample=1 "$program" 2>"$log" || fail "$program, sample=1: status $?"
	equal "sample=1: failed to resize" "$(site_by "$log" 1 make)" "$((5 * 60)) 5"
done

# An allocator whose realloc to no bytes fails.
cat >"$W/failing.c" <<'END'
#include <errno.h>
#include <stddef.h>
void *realloc(void *block, size_t size);
void *__libc_realloc(void *block, size_t size);
void *realloc(void *block, size_t size)
{
	if (size > 0)
		return __libc_realloc(block, size);
	errno = ENOMEM;
	return NULL;
}
END
build_program_only resize-failing tests/alloc/realloc.c "$W/failing.c"
program=$W/resize-failing
check exit=1 70 10
