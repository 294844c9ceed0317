#!/bin/sh
# unwind=table follows tables alone; unwind=auto goes on by the frame pointer where there is none.
. tests/lib.sh

# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -fno-asynchronous-unwind-tables -fno-unwind-tables -c -o "$W/bare.o" tests/unwind/ways_bare.c ||
	fail "cannot build bare.o"
build ways tests/unwind/ways.c "$W/bare.o"
for way in auto table; do
	LEAKWRAP_OPTIONS=unwind=$way "$W/ways" 2>"$W/$way" || fail "$way: status $?"
done
dump_sites "$W/auto" 1 | grep -q '^11 1 complete leak;bare;main;' || fail "auto: $(dump_sites "$W/auto" 1)"
equal table "$(dump_sites "$W/table" 1)" "11 1 truncated leak;bare;"
