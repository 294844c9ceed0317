#!/bin/sh
# A block to whose second byte or to whose end a pointer leads is possibly lost, whatever the
# program's allocator, and whether or not the block behind it is reachable.
. tests/lib.sh

# glibc's blocks are 32 bytes apart, those of the other allocator 16.
for allocator in '' tests/link/dense_malloc.c; do
	# shellcheck disable=SC2086 # one or none
	build tagged tests/reach/tagged_pointers.c $allocator
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:libraries=0:log=$W/log" "$W/tagged" ||
		fail "$allocator: status $?"
	equal "$allocator: lost" "$(dump_value "$W/log" 1 definite_bytes)" 0
	equal "$allocator: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" \
		$((2000 * 16 + 1000 * 40))
done
