#!/bin/sh
# Vtables may lie among the variables, in memory that is of no file.
. tests/lib.sh

build tables tests/reach/copied_tables.c
LEAKWRAP_OPTIONS="kinds=always:exit=0:log=$W/log" "$W/tables" || fail "status $?"
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 0
equal "reachable" "$(dump_value "$W/log" 1 reachable_blocks)" 20

# The search in a core file agrees.
report_of_core '' "$W/tables"
grep -q 'possibly lost: .* in 0 blocks' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'still reachable: .* in 20 blocks' "$W/out" || fail "core: $(head "$W/out")"
