#!/bin/sh
# The tracer's memory follows the addresses that the heap has used, and not what is allocated and freed there.
. tests/lib.sh

build endless tests/rules/endless.c
"$W/endless" >"$W/out" 2>"$W/log" || fail "status $?"
read -r early late <"$W/out"
echo "$early bytes after 30 rounds, $late after 60"
[ "$late" -lt $((early * 5 / 4)) ] || fail "the tracer grew from $early to $late bytes"
for key in untracked_blocks freed_elsewhere_blocks foreign_frees; do
	equal "$key" "$(dump_value "$W/log" 1 $key)" 0
done
