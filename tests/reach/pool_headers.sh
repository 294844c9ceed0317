#!/bin/sh
# What leads from a pool's own header is reachable, also where the program has declared the parts of
# the pool. What only the pool's other memory leads to is possibly lost at most. Variables beside a
# pool are roots, in a module and on a stack. The search in a core file agrees.
. tests/lib.sh

# kinds: prints the kind of the block of each function in the dump.
kinds() {
	awk '
		/^site / { kind = $NF; sub("=.*", "", kind) }
		/^ *#0 / { sub(/[.+].*/, "", $3) }
		/^ *#0 / && $3 ~ /^(keep|possible|lose)_/ { print $3, kind }' | sort
}

for function in keep_owner keep_through_owner keep_through_part keep_mapped_owner \
	keep_through_mapped_owner keep_beside_pool keep_on_stack; do
	echo "$function reachable"
done >"$W/unsorted"
for function in possible_between possible_behind possible_array; do
	echo "$function possible"
done >>"$W/unsorted"
for function in lose_in_free lose_in_mapped_gap; do
	echo "$function definite"
done >>"$W/unsorted"
sort "$W/unsorted" >"$W/wanted"

for link in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build pools tests/reach/pool_headers.c $link
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:exit=0:log=$W/log" "$W/pools" || fail "'$link': status $?"
	dump_lines "$W/log" 1 | kinds | diff -U 0 "$W/wanted" - >"$W/differing" ||
		fail "'$link': $(tail -n +3 "$W/differing")"
done

# Two parts, and blocks of a word.
word=$(($(getconf LONG_BIT) / 8))
report_of_core '' "$W/pools"
for line in "definitely lost: 2,0$((48 + 2 * word)) bytes in 4 blocks" \
	"possibly lost: $((3 * word)) bytes in 3 blocks"; do
	grep -q "$line" "$W/out" || fail "core: $(head -n 8 "$W/out")"
done
