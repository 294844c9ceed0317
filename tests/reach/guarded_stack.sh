#!/bin/sh
# What the stack of a coroutine leads to is reachable if the stack is a block with a guard page,
# also if the stack pointer alone leads to this block.
. tests/lib.sh

for flags in '' -static; do
	# shellcheck disable=SC2086 # one or none
	build guarded $flags tests/reach/guarded_stack.c
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/guarded" || fail "$flags: status $?"
	for dump in 1 2; do
		equal "$flags: lost, dump $dump" "$(dump_value "$W/log" $dump definite_blocks)" 0
		equal "$flags: possibly lost, dump $dump" \
			"$(dump_value "$W/log" $dump possible_blocks)" 0
	done
done
