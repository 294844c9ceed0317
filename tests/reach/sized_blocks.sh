#!/bin/sh
# A block of Tcl, a slab of its small blocks, and an array or string of Free Pascal, is reachable by
# a pointer behind its size.
. tests/lib.sh
[ "$(getconf LONG_BIT)" = 64 ] || skip "Free Pascal keeps other sizes here"

build blocks tests/reach/sized_blocks.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/blocks" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_blocks)" 9
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 10

# The search in a core file agrees.
report_of_core '' "$W/blocks"
grep -q 'definitely lost: .* in 9 blocks' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'possibly lost: .* in 10 blocks' "$W/out" || fail "core: $(head "$W/out")"
