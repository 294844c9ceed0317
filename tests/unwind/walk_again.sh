#!/bin/sh
# A walk that ends at the thread's latest walk finds what a whole walk finds, and knows as well on
# which words it depends: with and without frame pointers, in threads, amid signals and siglongjmp.
. tests/lib.sh

jansson=$($CC -print-file-name=libjansson.a)
[ -e "$jansson" ] || skip "libjansson.a is not installed"
for flags in -fomit-frame-pointer "-Os -fomit-frame-pointer" -fno-omit-frame-pointer; do
	# shellcheck disable=SC2086 # lists
	build walk_again tests/unwind/walk_again.c "$jansson" $flags
	for depth in 64 20; do
		LEAKWRAP_OPTIONS=exit=0:depth=$depth "$W/walk_again" 2000 >"$W/out" 2>&1 ||
			fail "$flags, depth=$depth: status $?: $(head -n 60 "$W/out")"
		echo "$flags, depth=$depth: $(cat "$W/out")"
	done
done
