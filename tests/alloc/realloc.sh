#!/bin/sh
# realloc, also where its stack is recognized and the block is an ordinary one: what it returns is the resizing caller's; what
# it failed to resize stays as it was; what is not shown stays so.
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
