#!/bin/sh
# A dump takes memory for the call sites with live blocks, not for all that a program has met.
#
# The exit dump of a forked child tells lost from reachable memory, and leaves out what is
# inherited. Its arrays have 100 bytes for each of 262,144 call sites: 6,400 pages if all were
# touched.
. tests/lib.sh

build few_of_many tests/limits/few_of_many.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/few_of_many" >"$W/out" || fail "status $?"
read -r faults <"$W/out"
echo "$faults page faults"
grep -q "^leakwrap.* kinds definite_bytes=77 definite_blocks=1 " "$W/log" ||
	fail "the child's dump: $(grep kinds "$W/log")"
[ "$faults" -lt 2000 ] || fail "a child has $faults page faults"
