#!/bin/sh
# However many blocks have pointers into them, those with pointers to four of their parts are
# reachable.
. tests/lib.sh

build slabs tests/reach/many_slabs.c
LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/slabs" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_bytes)" 0
equal "possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" $((40000 * 200))

# The search in a core file agrees.
report_of_core '' "$W/slabs"
grep -q "possibly lost: 8,000,000 bytes in 40,000 blocks" "$W/out" ||
	fail "core: $(head -n 20 "$W/out")"
