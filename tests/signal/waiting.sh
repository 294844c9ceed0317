#!/bin/sh
# A program that waits for SIGUSR1 without a handler does not get the requests of the tool.
#
# It may end when it gets the signal. The tool's dumps, changes and marks happen all the same. A
# signal of kill writes a dump, and goes to the program.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
trap 'kill -9 $pid 2>/dev/null' EXIT
pid=''

for static in '' -static; do
	build "waiting$static" $static tests/signal/waiting.c
	for how in sigwait sigwaitinfo sigtimedwait; do
		log=$W/$how$static.log
		LEAKWRAP_OPTIONS=log=$log:exit=0 "$W/waiting$static" $how >"$W/said" 2>"$W/err" &
		pid=$!
		wait_until "$patience" "$lw" dump $pid >"$W/out" 2>&1 ||
			fail "$how$static: no dump: $(cat "$W/out")"
		kill -WINCH $pid # a handler does not end sigwait
		status_is 0 "$lw" dump --kinds $pid
		status_is 0 "$lw" mark $pid
		status_is 0 "$lw" set $pid sample=64K
		status_is 0 "$lw" dump $pid
		shows '] recording state=sample '
		shows '] mark since_mark_bytes='
		equal "$how$static: after requests" "$(cat "$W/said")" ""
		dumps=$(dumps "$log" | wc -l)
		kill -USR1 $pid
		wait_until "$patience" grep -q USR1 "$W/said" || fail "$how$static: no signal"
		equal "$how$static: a dump by kill" "$(dumps "$log" | wc -l)" $((dumps + 1))
		status_is 0 "$lw" dump $pid
		kill -TERM $pid
		wait $pid || fail "$how$static: status $?"
		equal "$how$static: what it got" "$(tr '\n' ' ' <"$W/said")" "USR1 TERM "
	done
	LEAKWRAP_OPTIONS=log=$W/timeout$static.log:exit=0 timeout 60 "$W/waiting$static" timeout \
		>"$W/said" || fail "timeout$static: status $?"
	equal "timeout$static" "$(cat "$W/said")" "-1 Resource temporarily unavailable"
	equal "timeout$static: dumps" "$(dumps "$W/timeout$static.log" | wc -l)" 1
done
