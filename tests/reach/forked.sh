#!/bin/sh
# A forked child's dump has the kinds of its own blocks alone. After a mark, the blocks of a call
# site have one sum of each kind. leakwrap_get_kinds finds the kinds of all blocks. What a thread of
# the parent has on its stack is not lost in the child.
. tests/lib.sh

build program tests/reach/forked.c

# kinds HOW: prints the lost and the reachable blocks of the dump's total and of its call site.
kinds() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="log=$W/log" "$W/program" "$1" || fail "$1: status $?"
	first=$(dumps "$W/log" | head -n 1)
	for key in live_blocks definite_blocks reachable_blocks; do
		dump_value "$W/log" "$first" $key
	done | tr '\n' ' '
	dump_lines "$W/log" "$first" | sed -n 's/^site .*complete //p' | sed 's/ since.*//'
}

equal "child" "$(kinds fork)" "3 0 3 reachable=120/3"
equal "mark" "$(kinds mark)" "13 3 10 definite=120/3 reachable=400/10"
LEAKWRAP_OPTIONS=exit=0 "$W/program" thread || fail "a thread of the parent: status $?"
