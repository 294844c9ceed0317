#!/bin/sh
# An object of CPython is reachable by a pointer to its characters, and the values of its attributes
# by one behind the order in which they came.
. tests/lib.sh
without_stale_pointers

build parts tests/reach/python_parts.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/parts" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_blocks)" 6
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 6

# The search in a core file agrees.
report_of_core '' "$W/parts"
grep -q 'definitely lost: .* in 6 blocks' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'possibly lost: .* in 6 blocks' "$W/out" || fail "core: $(head "$W/out")"
