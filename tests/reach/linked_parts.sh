#!/bin/sh
# An object is reachable by a node of a list or tree in it, and by a part that leads to it, or is a
# watcher of libev.
. tests/lib.sh

build parts tests/reach/linked_parts.c
LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/parts" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_blocks)" 3
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 9

# The search in a core file agrees.
report_of_core '' "$W/parts"
grep -q 'definitely lost: .* in 3 blocks' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'possibly lost: .* in 9 blocks' "$W/out" || fail "core: $(head "$W/out")"
