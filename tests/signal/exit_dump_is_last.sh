#!/bin/sh
# The exit dump is the last dump of a process: requests that come while it is written do not hide
# what it says of lost memory.
. tests/lib.sh

mkfifo "$W/input"
for static in "" -static; do
	build "asked$static" $static tests/signal/exit_dump_is_last.c
	for _ in 1 2 3 4 5; do
		: >"$W/ready"
		"$W/asked$static" <"$W/input" >"$W/ready" 2>"$W/log" &
		pid=$!
		exec 5>"$W/input"
		wait_until "$patience" test -s "$W/ready" || fail "static '$static': no start"
		kill -USR1 $pid
		exec 5>&- # the program ends
		while kill -USR1 $pid 2>/dev/null; do sleep 0.002; done
		wait $pid || fail "static '$static': status $?"
		sed -n 's/.*\] dump .* reason=\([a-z]*\) .*/\1/p' "$W/log" >"$W/reasons"
		equal "static '$static': the last dump" "$(tail -n 1 "$W/reasons")" exit
		equal "static '$static': exit dumps" "$(grep -c exit "$W/reasons")" 1
		grep -q signal "$W/reasons" || fail "static '$static': no request was served"
	done
done
