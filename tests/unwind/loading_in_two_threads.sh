#!/bin/sh
# A thread that reads the loader's list early and ends late does not remove a later library.
#
# Two threads load libraries at once. The first thread's list lacks the other thread's library.
. tests/lib.sh

build_plain first.so -shared -fPIC -DFRAME=100 tests/unwind/plugin.c
build_plain second.so -shared -fPIC -DFRAME=200 tests/unwind/plugin.c
build loading tests/unwind/loading_in_two_threads.c
"$W/loading" "$W/first.so" "$W/second.so" 2>"$W/log" || fail "status $?"
dump_sites "$W/log" 1 >"$W/sites"
grep -q '^77 1 complete allocates;?;?;main;' "$W/sites" ||
	fail "through the second plugin: $(cat "$W/sites")"
