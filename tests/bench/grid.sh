#!/bin/sh
# grid.sh - what a malloc and free pair costs: live set x depth x distinct stacks x threads, with frame pointers
# and without.
#
# A part of the benchmark; called by tests/bench/run.  Lists in BENCH_LIVE, BENCH_DEPTH, BENCH_STACKS and
# BENCH_THREADS make it longer or shorter.
. tests/bench/lib.sh
if quick; then
	: "${BENCH_LIVE:=1000 100000}" "${BENCH_DEPTH:=4 24}" "${BENCH_STACKS:=1 1000}" "${BENCH_THREADS:=1 2}"
fi
: "${BENCH_LIVE:=1000 100000 1000000}" "${BENCH_DEPTH:=4 24}" "${BENCH_STACKS:=1 1000 50000}" "${BENCH_THREADS:=1 2}"

cell() {
	for tool in untraced leakwrap lsan nofp-untraced nofp-leakwrap; do
		run_pairs grid "$live/$depth/$stacks/$threads" $tool "$live $depth $stacks $threads $BENCH_MS"
	done
}

for live in $BENCH_LIVE; do
	for depth in $BENCH_DEPTH; do
		for stacks in $BENCH_STACKS; do
			for threads in $BENCH_THREADS; do
				rounds cell
			done
		done
	done
done
