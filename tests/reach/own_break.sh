#!/bin/sh
# Memory that a program gets from sbrk itself can keep blocks reachable; the allocator's cannot.
. tests/lib.sh

# kind_of FUNCTION: prints the kinds of its blocks in the dump.
kind_of() {
	dump_lines "$W/log" 1 | awk -v f="$1" '
		/^site / { line = $0 }
		/^ *#0 / {
			name = $3
			sub(/[.+].*/, "", name)
			if (name == f && match(line, /(definite|possible|reachable)=[0-9\/]*/))
				print substr(line, RSTART, RLENGTH)
		}'
}

for how in '' -static; do
	build "own_break$how" $how tests/reach/own_break.c
	LEAKWRAP_OPTIONS=kinds=exit "$W/own_break$how" 2>"$W/log" || fail "$how: status $?"
	grep -q ' heap=known' "$W/log" || fail "$how: the heap is not known: $(grep heap= "$W/log")"
	equal "$how: kept in the program's memory" "$(kind_of keep_in_own_memory)" "reachable=123/1"
	equal "$how: lost" "$(kind_of lose)" "definite=45/1"
done
