#!/bin/sh
# dump.sh - how long a dump holds the thread that got the signal.
#
# A part of the benchmark; called by tests/bench/run.  The log is a file in the build folder.
. tests/bench/lib.sh
if quick; then
	: "${BENCH_DUMP_LIVE:=100000}" "${BENCH_DUMP_STACKS:=1 1000}"
else
	: "${BENCH_DUMP_LIVE:=1000000 10000000}" "${BENCH_DUMP_STACKS:=1 1000 50000}"
fi

once() {
	fresh
	progress "dump: $live live blocks, $stacks stacks"
	# shellcheck disable=SC2046 # two numbers
	set -- $(LEAKWRAP_OPTIONS=log=$work/dump:exit=0 "$bench/held.leakwrap" "$live" 12 "$stacks") || failed held
	record dump "$live/$stacks" leakwrap held_ns "$1"
	record dump "$live/$stacks" leakwrap dump_ns "$(dump_number dump_ns)"
	record dump "$live/$stacks" leakwrap dump_bytes "$(($(wc -c <"$work/dump") / $(grep -c '\] end ' "$work/dump")))"
	record dump "$live/$stacks" leakwrap tracer_bytes "$(dump_number tracer_bytes)"
}

for live in $BENCH_DUMP_LIVE; do
	for stacks in $BENCH_DUMP_STACKS; do
		if [ "$(memory_available)" -lt $((live / 4000)) ]; then
			skipped "dump of $live live blocks" "takes $((live / 4000)) MB, and $(memory_available) MB are free"
			continue
		fi
		rounds once
	done
done
