#!/bin/sh
# An arena of Protocol Buffers is reachable by a pointer behind the start of its oldest block.
. tests/lib.sh

build arenas tests/reach/arenas.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/arenas" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_blocks)" 3
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 5

# The search in a core file agrees.
report_of_core '' "$W/arenas"
grep -q 'definitely lost: .* in 3 blocks' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'possibly lost: .* in 5 blocks' "$W/out" || fail "core: $(head "$W/out")"
