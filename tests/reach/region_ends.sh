#!/bin/sh
# A pointer into a block leads to it behind the end of the region in which the block begins, too.
# No other block lies there.
. tests/lib.sh

build region_ends tests/reach/region_ends.c -fno-builtin-malloc
for size in 3000 10000 60000 100000; do
	LEAKWRAP_OPTIONS="kinds=always:libraries=0:exit=0:log=$W/log" "$W/region_ends" $size ||
		fail "$size: status $?"
	equal "$size: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" $size
	rm "$W/log"
done
