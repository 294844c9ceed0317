#!/bin/sh
# growth.sh - what a malloc and free pair costs as live blocks, call sites, threads and depth grow.
#
# A part of the benchmark; called by tests/bench/run.  Blocks have 16 to 24 bytes, so that many fit.
# BENCH_GROWTH_LIVE bounds the live blocks (50,000,000 by default, which takes 4 GB).
. tests/bench/lib.sh
if quick; then
	: "${BENCH_GROWTH_LIVE:=1000000}"
	most_sites=10000
else
	: "${BENCH_GROWTH_LIVE:=50000000}"
	most_sites=500000
fi

# at PART CASE LIVE DEPTH STACKS THREADS
at() {
	for tool in untraced leakwrap lsan; do
		run_pairs "$1" "$2" $tool "$3 $4 $5 $6 $BENCH_MS 24"
	done
}

for live in 1000 10000 100000 1000000 10000000 20000000 50000000; do
	[ $live -le "$BENCH_GROWTH_LIVE" ] || continue
	needed=$((live / 10000)) # MB
	if [ "$(memory_available)" -lt "$needed" ]; then
		skipped "growth to $live live blocks" "takes $needed MB, and $(memory_available) MB are free"
	elif [ $live -gt 1000000 ]; then
		at growth-live $live $live 8 100 1
	else
		rounds at growth-live $live $live 8 100 1
	fi
done
for sites in 10 100 1000 10000 100000 500000; do
	[ $sites -gt $most_sites ] || rounds at growth-sites $sites 100000 8 $sites 1
done
for threads in 1 2 4 8 16 32 64; do
	rounds at growth-threads $threads 64000 8 1000 $threads
done
# Neither tool keeps so many frames by default.
more_leakwrap=depth=256
more_lsan=malloc_context_size=256
for depth in 4 8 16 32 64 100 200; do
	rounds at growth-depth $depth 10000 $depth 100 1
done
