#!/bin/sh
# A request that comes during a dump is served after it, whichever thread gets it.
. tests/lib.sh

build pending tests/signal/request_during_dump.c
mkfifo "$W/pipe"
"$W/pending" "$W/over" >"$W/out" 2>"$W/pipe" &
pid=$!
exec 3<"$W/pipe"
if ! wait_until 20 grep -q asked "$W/out"; then
	kill -9 $pid
	fail "the requesting thread hangs"
fi
cat <&3 >"$W/log" &
reader=$!
has_three() {
	[ "$(dumps "$W/log" | wc -l)" -ge 3 ]
}
wait_until "$patience" has_three || {
	kill -9 $pid
	fail "dumps by signal: $(dumps "$W/log")"
}
: >"$W/over"
wait $reader
wait $pid || fail "status $?"
equal "dumps by signal" "$(grep -c 'reason=signal' "$W/log")" 3
equal "dumps" "$(dumps "$W/log" | sed 's/.*\.//' | tr '\n' ' ')" "1 2 3 4 "
for n in 1 2 3 4; do
	equal "call sites in dump $n" "$(dump_sites "$W/log" $n | grep -c ' main;')" 1000
	equal "lines of dump $n" "$(grep -c "^leakwrap\\[$pid\\.$n\\]" "$W/log")" \
		"$(dump_value "$W/log" $n lines)"
done
