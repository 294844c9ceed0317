#!/bin/sh
# Generators of random numbers and errors of Abseil are reachable by the pointers that it has.
# Other blocks of the same sizes are not.
. tests/lib.sh

build objects tests/reach/abseil_objects.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/objects" || fail "status $?"
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks) blocks" "4 blocks"

# The search in a core file agrees.
report_of_core '' "$W/objects"
grep -q 'possibly lost: 800 bytes in 4 blocks' "$W/out" || fail "core: $(head "$W/out")"
