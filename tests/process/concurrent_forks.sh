#!/bin/sh
# Threads that fork at once do not deadlock, and each child writes its dump.
# timeout: 60
. tests/lib.sh

for static in '' -static; do
	build "forks$static" $static tests/process/concurrent_forks.c
	timeout -s KILL 20 "$W/forks$static" 2>"$W/log$static" || fail "forks$static: status $?"
	equal "dumps$static" "$(dumps "$W/log$static" | wc -l)" 21
done
