#!/bin/sh
# unwind=instrument takes backtraces from the hooks of -finstrument-functions, without tables or frame
# pointers; longjmp, signals, threads and fork do not confuse them, and an overflow is told.
. tests/lib.sh

instrumented='-finstrument-functions -fomit-frame-pointer -fno-asynchronous-unwind-tables'
for static in '' -static; do
	# shellcheck disable=SC2086 # a list of flags
	build "instrument$static" $static $instrumented tests/unwind/instrument.c
	log=$W/log$static
	LEAKWRAP_OPTIONS=unwind=instrument "$W/instrument$static" 2>"$log" || fail "status $?"
	pid=$(sed -n 's/^leakwrap\[\([0-9]*\).*reason=exit.*/\1/p' "$log" | tail -n 1)
	child=$(sed -n 's/^leakwrap\[\([0-9]*\).*reason=exit.*/\1/p' "$log" | head -n 1)
	sites=$(dump_sites "$log" "$pid.1")

	for expected in '1 1 complete leak;jumps;main;' '2 1 [a-z]* leak;on_signal;[^;]*;main;' \
		'3 1 complete leak;raises;main;' '4 1 [a-z]* leak;in_thread;' \
		'5 1 complete leak;nests;nests;nests;nests;main;' \
		'5 1 complete leak;nests;nests;nests;nests;nests;main;'; do
		echo "$sites" | grep -q "^$expected" || fail "no '$expected'$static in: $sites"
	done
	echo "$sites" | grep -q '^5 1 truncated leak;nests;' || fail "the deep one is not truncated$static: $sites"
	dump_lines "$log" "$pid.1" | grep -q '^note .*too deep' || fail "the overflow is not told$static"
	dump_sites "$log" "$child.1" | grep -q '^6 1 complete leak;in_child;main;' ||
		fail "the child$static: $(dump_sites "$log" "$child.1")"
done
