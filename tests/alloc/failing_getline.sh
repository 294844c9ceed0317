#!/bin/sh
# A getline that fails before it allocates changes no record, whatever its arguments are.
. tests/lib.sh

for static in '' -static; do
	build "lines$static" -Wno-use-after-free $static tests/alloc/failing_getline.c
	log=$W/log$static
	"$W/lines$static" 2>"$log" || fail "status $?"
	equal "the block$static" "$(site_by "$log" 1 makes)" "50 1"
	equal "getline$static" "$(site_by "$log" 1 reads)" "0 0"
	equal "freed elsewhere$static" "$(dump_value "$log" 1 freed_elsewhere_blocks)" 0
done
