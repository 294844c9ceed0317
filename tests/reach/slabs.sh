#!/bin/sh
# Blocks that a program hands out in parts are reachable by pointers to four of their parts, or to a
# part that leads back to its block. So is a tree of tsearch, whose pointers have a colour.
. tests/lib.sh

word=$(($(getconf LONG_BIT) / 8))
page=$((400 + 2 * word))
lost=$((4 * word + page)) # the list of the other pages counts at its first
possible=$((2000 + 23 * word + 1 + page))
for link in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build slabs tests/reach/slabs.c $link
	LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/slabs" || fail "'$link': status $?"
	equal "'$link': lost" "$(dump_value "$W/log" 1 definite_bytes)" $lost
	equal "'$link': indirectly lost" "$(dump_value "$W/log" 1 indirect_bytes)" \
		$((1234 + 98 * page))
	equal "'$link': possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" $possible
	rm "$W/log"
done

# The search in a core file agrees.
report_of_core '' "$W/slabs"
grep -q "possibly lost: $(echo $possible | sed 's/\(...\)$/,\1/') bytes in 3 blocks" "$W/out" ||
	fail "core: $(head -n 20 "$W/out")"
