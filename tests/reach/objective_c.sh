#!/bin/sh
# An object of Objective-C is reachable by a pointer behind the number of its owners.
. tests/lib.sh

build objects tests/reach/objective_c.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/objects" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_blocks)" 3
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 4

# The search in a core file agrees.
report_of_core '' "$W/objects"
grep -q 'definitely lost: .* in 3 blocks' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'possibly lost: .* in 4 blocks' "$W/out" || fail "core: $(head "$W/out")"
