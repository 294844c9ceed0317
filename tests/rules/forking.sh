#!/bin/sh
# A dump in a signal handler that has interrupted malloc does not wait for a fork, which waits for malloc's locks.
# timeout: 60
. tests/lib.sh

for static in '' -static; do
	build "forking$static" $static tests/rules/forking.c
	timeout -s KILL 20 "$W/forking$static" >"$W/out" 2>"$W/log$static" || fail "forking$static: status $?: $(cat "$W/out")"
	for n in 1 2; do
		[ "$(dumps "$W/log$static" | grep -c "\.$n\$")" -ge 1 ] || fail "no dump $n"
	done
done
