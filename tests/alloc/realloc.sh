#!/bin/sh
# realloc moves a block to its caller's call site, and a failed realloc leaves the record as it was.
#
# This also holds if the tracer recognizes the stack. A block that the program hid stays hidden.
. tests/lib.sh

for static in '' -static; do
	build "resize$static" $static tests/alloc/realloc.c
	log=$W/log$static
	"$W/resize$static" 2>"$log" || fail "status $?"
	equal "resized$static" "$(site_by "$log" 1 resize)" "$((5 * (100 + 90))) 10"
	equal "failed to resize$static" "$(site_by "$log" 1 make)" "$((5 * 60)) 5"
	equal "freed elsewhere$static" "$(dump_value "$log" 1 freed_elsewhere_blocks)" 0
	equal "foreign frees$static" "$(dump_value "$log" 1 foreign_frees)" 0
done
