#!/bin/sh
# Many pointers into blocks, all over them, keep none of the blocks between.
. tests/lib.sh

for allocator in '' tests/link/dense_malloc.c; do
	# shellcheck disable=SC2086 # one or none
	build crowded tests/reach/crowded.c $allocator
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:libraries=0:log=$W/log" "$W/crowded" ||
		fail "$allocator: status $?"
	equal "$allocator: lost" "$(dump_value "$W/log" 1 definite_bytes)" \
		$(((129 + 512) * (512 - 129 + 1) / 2))
	equal "$allocator: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" 0
done
