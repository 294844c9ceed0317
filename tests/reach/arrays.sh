#!/bin/sh
# An array by new[] is reachable by a pointer to its elements, whatever they are, and if there are
# none.
. tests/lib.sh

word=$(($(getconf LONG_BIT) / 8))
build_cxx arrays tests/reach/arrays.cpp

# check KIND LOST BLOCKS POSSIBLE: fails unless so many bytes are lost in BLOCKS blocks, and so many
# possibly lost, also in a core file.
check() {
	rm -f "$W/log" "$W/core.log" "$W/gcore"
	LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/arrays" "$1" || fail "$1: status $?"
	equal "$1: lost" "$(dump_value "$W/log" 1 definite_bytes)" "$2"
	equal "$1: lost blocks" "$(dump_value "$W/log" 1 definite_blocks)" "$3"
	equal "$1: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" "$4"
	report_of_core '' "$W/arrays" "$1"
	tr -d , <"$W/out" >"$W/core"
	grep -q "definitely lost: $2 bytes in $3 block" "$W/core" || fail "$1: $(head "$W/core")"
	grep -q "possibly lost: $4 bytes" "$W/core" || fail "$1: $(head "$W/core")"
}

check empty $((7 * word + word + 2 * word)) 9 0
check words $((7 * 4 * word)) 7 0
check bytes $((7 * (word + 3))) 7 0
check pairs $((7 * 4 * 2 * word)) 7 0
check lines $((7 * 4 * 64)) 7 0
check rests 0 0 0
check no_arrays 0 0 $((100 * 8 * word))
