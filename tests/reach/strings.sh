#!/bin/sh
# A string of Protocol Buffers is reachable by a pointer with marks in its lowest bits, and one of
# ICU by a pointer behind the number of its owners.
. tests/lib.sh

build_cxx strings tests/reach/strings.cpp
word=$(($(getconf LONG_BIT) / 8))
possible=$((2 * (2 * word + 16) + 16 + 24))
LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/strings" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_bytes)" 0
equal "possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" $possible

# The search in a core file agrees.
report_of_core '' "$W/strings"
grep -q 'definitely lost: 0 bytes' "$W/out" || fail "core: $(head "$W/out")"
grep -q "possibly lost: $possible bytes in 4 blocks" "$W/out" || fail "core: $(head "$W/out")"
