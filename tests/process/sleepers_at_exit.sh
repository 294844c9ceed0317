#!/bin/sh
# The exit dump stops the other threads, but does not end their sleep.
#
# A thread that sleeps until the process has gone would otherwise do what comes after its sleep: end
# the process with another status, or before the dump is whole.
. tests/lib.sh

for static in '' -static; do
	build "sleepers$static" $static tests/process/sleepers_at_exit.c
	for case in main:exit:0 main:_exit:0 main:abort:0 thread:pause:5 thread:poll:5 \
		thread:select:5; do
		how=${case#*:} who=${case%%:*} status=${case##*:}
		how=${how%:*}
		for _ in 1 2 3; do
			rm -f "$W/log"
			LEAKWRAP_OPTIONS=log="$W/log" "$W/sleepers$static" "$who" "$how" \
				2>"$W/errors"
			equal "$static $case: status" $? "$status"
			dump_is_whole "$W/log" 1 || fail "$static $case: no whole dump"
			dump_lines "$W/log" 1 | grep -q '^kinds ' || fail "$static $case: no kinds"
		done
	done
done
