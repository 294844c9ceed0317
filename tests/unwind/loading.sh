#!/bin/sh
# Of two threads that load libraries at once, the one that reads the loader's list earlier and ends later does not take the other's
# library out of the list again.
. tests/lib.sh

build_plain first.so -shared -fPIC -DFRAME=100 tests/unwind/plugin.c
build_plain second.so -shared -fPIC -DFRAME=200 tests/unwind/plugin.c
build loading tests/unwind/loading.c
"$W/loading" "$W/first.so" "$W/second.so" 2>"$W/log" || fail "status $?"
dump_sites "$W/log" 1 >"$W/sites"
grep -q '^77 1 complete allocates;?;?;main;' "$W/sites" || fail "through the second plugin: $(cat "$W/sites")"
