#!/bin/sh
# An array by new[] is reachable by a pointer to its elements, whatever they are, and if there are
# none.
. tests/lib.sh

word=$(($(getconf LONG_BIT) / 8))
flags="-O1 -g -fno-builtin -Wall -Wextra -Werror"
# shellcheck disable=SC2046,SC2086 # lists of flags
g++ $flags -std=c++17 -I. -o "$W/arrays" tests/reach/arrays.cpp -static-libstdc++ \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS) || fail "cannot build arrays.cpp"

# check KIND LOST BLOCKS: fails unless so many bytes and blocks are lost, also in a core file.
check() {
	rm -f "$W/log" "$W/core.log" "$W/gcore"
	LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/arrays" "$1" || fail "$1: status $?"
	equal "$1: lost" "$(dump_value "$W/log" 1 definite_bytes)" "$2"
	equal "$1: lost blocks" "$(dump_value "$W/log" 1 definite_blocks)" "$3"
	equal "$1: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" 0
	report_of_core '' "$W/arrays" "$1"
	grep -q "definitely lost: $(echo "$2" | sed 's/\(...\)$/,\1/') bytes in $3 blocks" \
		"$W/out" || fail "$1: core: $(head "$W/out")"
	grep -q 'possibly lost: 0 bytes' "$W/out" || fail "$1: core: $(head "$W/out")"
}

check empty $((7 * word + word + 2 * word)) 9
