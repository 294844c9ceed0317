#!/bin/sh
# A free of an unrecorded block passes through and is counted.
#
# A recorded block that other code has freed is counted when its address comes back. The new block
# replaces its record. This also holds if the C library hands the address out.
. tests/lib.sh

$CC -O2 -shared -fPIC -o "$W/libelsewhere.so" tests/alloc/unseen_frees_library.c ||
	fail "cannot build the library"
build_program_only elsewhere tests/alloc/unseen_frees.c -L"$W" -lelsewhere -Wl,-rpath,"$W"
mkdir "$W/folder"
for i in 0 1 2 3 4 5 6 7 8 9; do
	for j in 0 1 2 3 4 5 6 7 8 9; do
		for k in 0 1 2 3 4; do : >"$W/folder/file_$i$j$k"; done
	done
done
returned=$("$W/elsewhere" "$W/folder" 2>"$W/log") || fail "status $?"
equal "addresses that came back" "$returned" 20
equal "foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 21 # realloc frees one of them
# A large block has no record any more if its address has come back.
large=$(site_by "$W/log" 1 large | cut -d' ' -f2)
equal "freed elsewhere" "$(dump_value "$W/log" 1 freed_elsewhere_blocks)" $((20 + 80 - large))
[ "$large" -lt 78 ] || fail "no address of a large block has come back"
equal "the line before" "$(site_by "$W/log" 1 short_line)" "0 0"
equal "the lines" "$(site_by "$W/log" 1 longer_line | cut -d' ' -f2)" 1
equal "the list" "$(site_by "$W/log" 1 listed | cut -d' ' -f2)" 503
equal "the blocks before" "$(site_by "$W/log" 1 first)" "0 0"
equal "the blocks after" "$(site_by "$W/log" 1 second)" "1280 20"
equal "the block that grew" "$(site_by "$W/log" 1 grown)" "2000 1"
