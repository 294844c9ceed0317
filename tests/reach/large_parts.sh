#!/bin/sh
# A pointer to a part of a pool leads to that part, whatever its size. What only the pool's free
# memory leads to is lost.
. tests/lib.sh

build parts tests/reach/large_parts.c
build parts-static -static tests/reach/large_parts.c
for program in parts parts-static; do
	for parts in "1000 50" "4080 50" "4100 50" "8192 50" "20000 40" "65000 14" "70000 12"; do
		# shellcheck disable=SC2086 # a size and a number
		"$W/$program" $parts 2>"$W/log" || fail "$program $parts: status $?"
		equal "$program $parts" "$(dump_value "$W/log" 1 definite_bytes)" 24
		equal "$program $parts: possible" "$(dump_value "$W/log" 1 possible_bytes)" 0
	done
done
