#!/bin/sh
# Threads that share an alternate stack are parked on their own stacks, threads that do not share
# one on the alternate stack. Two threads that take it at once find out that they share it.
. tests/lib.sh

for flags in '' -static; do
	# shellcheck disable=SC2086 # one or none
	build_program_only stacks $flags tests/reach/shared_stacks.c -pthread
	for threads in 1 "1 ended" 2 2 2 2 2 2 2 2 2 2 2 2 40; do
		rm -f "$W/log"
		# shellcheck disable=SC2086 # one argument or two
		LEAKWRAP_OPTIONS=kinds=always:log=$W/log timeout 60 "$W/stacks" $threads
		equal "$flags $threads: the shared stack is used" $? $((${threads% *} == 1))
		for dump in 1 2 3; do
			equal "$flags $threads: lost, dump $dump" \
				"$(dump_value "$W/log" $dump definite_bytes)" 0
		done
	done
done
