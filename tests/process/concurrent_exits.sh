#!/bin/sh
# The exit dump is written whole, even if another thread leaves the process meanwhile.
#
# The exit status is the first thread's.
. tests/lib.sh

for static in '' -static; do
	build "leaving$static" $static tests/process/concurrent_exits.c
	for function in exit _exit; do
		# The reader of the pipe starts late, which delays the dump.
		{
			"$W/leaving$static" $function 2>&1 >/dev/null
			echo $? >"$W/status"
		} | {
			sleep 1
			cat >"$W/log"
		}
		dump_is_whole "$W/log" 1 ||
			fail "$static, $function: the dump ends with $(tail -n 1 "$W/log")"
		equal "$static, $function: status" "$(cat "$W/status")" 7
	done
	# The thread that waits for the other's exit dump stops while that looks for lost memory.
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/leaving$static" _exit beside
	status=$?
	[ $status = 7 ] || [ $status = 8 ] || fail "$static, beside a dump: status $status"
	dump_lines "$W/log" 2 | grep -q '^kinds definite' ||
		fail "$static, beside a dump: $(grep note "$W/log")"
done
