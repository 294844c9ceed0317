#!/bin/sh
# A block that is a thread's alternate stack is reachable: the kernel has its address.
. tests/lib.sh

for flags in '' -static; do
	# shellcheck disable=SC2086 # one or none
	build_program_only stacks $flags tests/reach/alternate_stacks.c -pthread
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/stacks" || fail "$flags: status $?"
	for dump in 1 2; do
		equal "$flags: lost, dump $dump" "$(dump_value "$W/log" $dump definite_bytes)" 65636
		equal "$flags: possibly lost, dump $dump" \
			"$(dump_value "$W/log" $dump possible_bytes)" 0
	done
done
