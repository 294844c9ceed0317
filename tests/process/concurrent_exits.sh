#!/bin/sh
# The exit dump is written whole, even if another thread leaves the process meanwhile.
. tests/lib.sh

for static in '' -static; do
	build "leaving$static" $static tests/process/concurrent_exits.c
	# The reader of the pipe starts late, which delays the dump.
	"$W/leaving$static" 2>&1 >/dev/null | {
		sleep 1
		cat >"$W/log"
	}
	dump_is_whole "$W/log" 1 || fail "the dump ends with $(tail -n 1 "$W/log")"
done
