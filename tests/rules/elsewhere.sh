#!/bin/sh
# Frees of blocks that were never recorded pass through and are counted; blocks that code outside has freed
# are counted when their address comes back, and the new block takes their place.
. tests/lib.sh

$CC -O2 -shared -fPIC -o "$W/libelsewhere.so" tests/rules/elsewhere_library.c || fail "cannot build the library"
build elsewhere tests/rules/elsewhere.c -L"$W" -lelsewhere -Wl,-rpath,"$W"
returned=$("$W/elsewhere" 2>"$W/log") || fail "status $?"
equal "addresses that came back" "$returned" 20
equal "foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 21 # one of them by realloc
equal "freed elsewhere" "$(dump_value "$W/log" 1 freed_elsewhere_blocks)" 20
equal "the blocks before" "$(site_by "$W/log" 1 first)" "0 0"
equal "the blocks after" "$(site_by "$W/log" 1 second)" "1280 20"
equal "the block that grew" "$(site_by "$W/log" 1 grown)" "2000 1"
