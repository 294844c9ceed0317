#!/bin/sh
# A string of SDS, as Redis has, is reachable by the address of its characters.
. tests/lib.sh

build strings tests/reach/sds_strings.c
LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/strings" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_blocks)" 0
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 6

# The search in a core file agrees.
report_of_core '' "$W/strings"
grep -q 'definitely lost: .* in 0 blocks' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'possibly lost: .* in 6 blocks' "$W/out" || fail "core: $(head "$W/out")"
