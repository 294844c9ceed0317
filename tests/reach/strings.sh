#!/bin/sh
# A string of Protocol Buffers is reachable by a pointer with marks in its lowest bits, and one of
# ICU by a pointer behind the number of its owners.
. tests/lib.sh

flags="-O1 -g -fno-builtin -Wall -Wextra -Werror"
# shellcheck disable=SC2046,SC2086 # lists of flags
g++ $flags -std=c++17 -I. -o "$W/strings" tests/reach/strings.cpp -static-libstdc++ \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS) || fail "cannot build strings.cpp"
word=$(($(getconf LONG_BIT) / 8))
possible=$((2 * (2 * word + 16) + 16 + 24))
LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/strings" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_bytes)" 0
equal "possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" $possible

# The search in a core file agrees.
report_of_core '' "$W/strings"
grep -q 'definitely lost: 0 bytes' "$W/out" || fail "core: $(head "$W/out")"
grep -q "possibly lost: $possible bytes in 4 blocks" "$W/out" || fail "core: $(head "$W/out")"
