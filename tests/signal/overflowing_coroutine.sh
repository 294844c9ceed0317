#!/bin/sh
# A stack that overflows inside the tracer is a fault like any other, wherever that happens.
#
# The program's own handler is called, or the crash trace is written. The kernel would end the
# program at once if the tracer blocked signals there.
# timeout: 300
. tests/lib.sh

for static in '' -static; do
	# shellcheck disable=SC2086 # one or none
	build overflowing $static tests/signal/overflowing_coroutine.c 2>"$W/errors"
	spare=0
	while [ $spare -lt 400 ]; do
		for many in '' many; do
			# shellcheck disable=SC2086 # one or none
			"$W/overflowing" $spare handle $many >"$W/out" 2>&1
			equal "$static, $spare $many: status with a handler" $? 3
		done
		spare=$((spare + 5))
	done
	spare=0
	while [ $spare -lt 40 ]; do
		rm -f "$W/log"
		! LEAKWRAP_OPTIONS=crash=1:log=$W/log sh -c '"$@" 2>"$0"' "$W/died" \
			"$W/overflowing" $spare 2>"$W/shell" || fail "$static, $spare: lives"
		dump_is_whole "$W/log" 1 || fail "$static, $spare: no whole crash dump"
		equal "$static, $spare: signal" "$(dump_value "$W/log" 1 signal)" 11
		spare=$((spare + 1))
	done
done
