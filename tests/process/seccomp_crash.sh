#!/bin/sh
# With crash=1 a program whose filter refuses what restores the default action of a signal dies of a
# fault with one crash dump.
. tests/lib.sh

for static in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build "program$static" $static tests/process/seccomp_crash.c
	for call in rt_sigaction rt_sigprocmask; do
		rm -f "$W/log"
		status=0
		LEAKWRAP_OPTIONS=crash=1:log=$W/log timeout 20 "$W/program$static" $call \
			2>"$W/errors" || status=$?
		[ $status != 77 ] || skip "there are no filters of system calls here"
		equal "$call$static: status" $status 139
		equal "$call$static: dumps" "$(dumps "$W/log" | wc -l)" 1
		equal "$call$static: reason" "$(dump_value "$W/log" 1 reason)" crash
	done
done
