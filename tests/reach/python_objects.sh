#!/bin/sh
# An object of CPython is reachable by a pointer behind what the collector keeps of it.
. tests/lib.sh
without_stale_pointers

word=$(($(getconf LONG_BIT) / 8))
build objects tests/reach/python_objects.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/objects" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_bytes)" $((3 * 6 * word))
equal "possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" $(((6 + 8 + 7) * word))

# The search in a core file agrees.
report_of_core '' "$W/objects"
grep -q 'definitely lost: .* in 3 blocks' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'possibly lost: .* in 3 blocks' "$W/out" || fail "core: $(head "$W/out")"
