#!/bin/sh
# A thread starts in constant time and memory, even beside thousands of others, with crash=1.
#
# A starting thread does not look at the signal stacks of all others. The tracer reuses what ended
# threads leave.
. tests/lib.sh

build many_threads tests/limits/many_threads.c
for rounds in 1 2; do
	# The limit is in seconds of processor time. A look at all threads takes half a minute for
	# each round.
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -t 20
		LEAKWRAP_OPTIONS=crash=1 exec "$W/many_threads" $rounds
	) 2>"$W/log.$rounds"
	status=$?
	[ $status != 77 ] || skip "so many threads cannot be had"
	equal "status of $rounds rounds" $status 0
	equal "left" "$(site_by "$W/log.$rounds" 1 allocate)" "0 0"
done
one=$(dump_value "$W/log.1" 1 tracer_bytes)
two=$(dump_value "$W/log.2" 1 tracer_bytes)
[ "$two" -le $((one * 5 / 4)) ] ||
	fail "the tracer takes $one bytes after one round, $two after two"
