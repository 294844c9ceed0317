#!/bin/sh
# A failed allocation records nothing and loses nothing, even if address 0 is in a region with
# blocks.
. tests/lib.sh

for static in '' -static; do
	build "lowest$static" $static tests/alloc/failed_allocation.c
	log=$W/log$static
	"$W/lowest$static" 2>"$log"
	status=$?
	[ $status != 77 ] || skip "the first MiB cannot be mapped"
	equal "status$static" $status 0
	equal "what failed$static" "$(site_by "$log" 1 clears)" "0 0"
	equal "what could not be resized$static" "$(site_by "$log" 1 resizes)" "70 1"
	equal "foreign frees$static" "$(dump_value "$log" 1 foreign_frees)" 0
done
