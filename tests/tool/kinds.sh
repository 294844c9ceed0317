#!/bin/sh
# The tool shows lost memory first, in text and JSON, and judges by the kinds that the user names;
# leakwrap dump --kinds asks a running program.
. tests/lib.sh

tool=$O/leakwrap
build program tests/reach/shapes.c -static
build clean tests/signal/idle_process.c

# judged ARGUMENT...: prints the exit status of report --fail-on-leaks.
judged() {
	"$tool" report --fail-on-leaks "$@" >/dev/null 2>"$W/message"
	echo $?
}

LEAKWRAP_OPTIONS="log=$W/log" "$W/program" cases || fail "status $?"
"$tool" report "$W/log" >"$W/text" || fail "report: status $?"
equal "text" "$(grep -c '^  definitely lost: 48 bytes in 3 blocks$' "$W/text")" 1
grep '^  #' "$W/text" | head -n 1 | grep -q 'definitely lost' || fail "lost memory is not first"
"$tool" report --format=json "$W/log" | jq -e '
	.dumps[0] | (.totals.kinds | .definite_bytes == 48 and .indirect_bytes == 32) and
	(.totals.pause_ns > 0) and
	([.call_sites[].kinds.definite_bytes] | add == 48) and
	([.call_sites[].kinds.indirect_bytes] | add == 32) and
	([.call_sites[] | .live_bytes == (.kinds | .definite_bytes + .within_bytes +
		.possible_bytes + .reachable_bytes)] | all)' >/dev/null || fail "json"
equal "lost" "$(judged "$W/log")" 1
grep -q 'are lost$' "$W/message" || fail "message: $(cat "$W/message")"
equal "all" "$(judged --leak-kinds=all "$W/log")" 1
equal "wrong kind" "$(judged --leak-kinds=lost "$W/log")" 2
rm "$W/log"

# Reachable blocks are no leaks unless the user says so.
LEAKWRAP_OPTIONS="log=$W/log" "$W/program" nothing || fail "status $?"
equal "nothing lost" "$(judged "$W/log")" 0
grep -q ' reachable=' "$W/log" || fail "the C library has no reachable block"
rm "$W/log"

LEAKWRAP_OPTIONS="log=$W/log" "$W/clean" pause >"$W/out" &
pid=$!
wait_until "$patience" grep -q waiting "$W/out" || fail "did not start"
"$tool" dump --kinds $pid >"$W/dump" || fail "dump: status $?"
grep -q 'reason=signal' "$W/dump" || fail "no dump on the signal"
grep -q ' kinds .*scanned=copy' "$W/dump" || fail "dump --kinds has no kinds"
wait $pid || fail "idle: status $?"
