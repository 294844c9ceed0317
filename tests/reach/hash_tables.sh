#!/bin/sh
# A hash table of Rust is reachable, although the program has only a pointer behind its elements.
. tests/lib.sh
without_stale_pointers

# 32 elements of two words, 48 control bytes, and 31 blocks; where SSE2 is, a block more.
possible=$((32 * 2 * $(getconf LONG_BIT) / 8 + 48 + 31 * 50)) blocks=32
case $($CC -dumpmachine) in x86_64-*) possible=$((possible + 56)) blocks=33 ;; esac
for link in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build tables tests/reach/hash_tables.c $link
	LEAKWRAP_OPTIONS="kinds=always:libraries=0:log=$W/log" "$W/tables" ||
		fail "$link: status $?"
	equal "$link: lost" "$(dump_value "$W/log" 1 definite_bytes)" 0
	equal "$link: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" $possible
	rm "$W/log"
done

# The search in a core file agrees.
report_of_core :libraries=0 "$W/tables"
wanted="$((possible / 1000)),$((possible % 1000)) bytes in $blocks blocks"
grep -q "possibly lost: $wanted" "$W/out" || fail "core: $(head "$W/out")"
