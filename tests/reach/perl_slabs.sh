#!/bin/sh
# A slab of operations of Perl is reachable by a pointer to an operation in it.
. tests/lib.sh
without_stale_pointers

build slabs tests/reach/perl_slabs.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/slabs" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_blocks)" 3
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 5

# The search in a core file agrees.
report_of_core '' "$W/slabs"
grep -q 'definitely lost: .* in 3 blocks' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'possibly lost: .* in 5 blocks' "$W/out" || fail "core: $(head "$W/out")"
