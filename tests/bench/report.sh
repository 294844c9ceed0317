#!/bin/sh
# The benchmark's arithmetic is right: medians in results.json, and ratios in its tables.
#
# The medians are those of its runs. An unknown part is refused before another part runs for
# minutes.
# shellcheck disable=SC2016 # backquotes are what is looked for
. tests/lib.sh

# tab WORD...: prints a line of runs.tsv.
tab() {
	printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$W/runs.tsv"
}

for value in 100 300 200; do
	tab grid 100000/4/1/2 untraced ns $value
	tab grid 100000/4/1/2 leakwrap ns $((value + 50))
	tab grid 100000/4/1/2 lsan ns $((value + 100))
	tab grid 100000/4/1/2 leakwrap tracer_bytes 1850000
done
# What a tool adds is computed in turns that lie beside each other. The machine was half as fast in
# two of five.
while read -r untraced leakwrap lsan; do
	tab grid 1000/4/1/1 untraced ns "$untraced"
	tab grid 1000/4/1/1 leakwrap ns "$leakwrap"
	tab grid 1000/4/1/1 lsan ns "$lsan"
	tab grid 1000/4/1/1 nofp-untraced ns "$untraced"
	tab grid 1000/4/1/1 nofp-leakwrap ns "$((untraced + 7))"
done <<-END
	100 120 150
	200 240 300
	100 240 150
	100 120 300
	200 120 150
END
for program in one two; do
	tab programs $program untraced ns 1000000000
	tab programs $program untraced cpu_ns 500000000
	tab programs $program lsan ns 1500000000
	tab programs $program heaptrack ns 5000000000
done
tab programs one leakwrap ns 1000000000
tab programs two leakwrap ns 4000000000
tab programs two leakwrap cpu_ns 1000000000
tab slow two untraced ns 100
tab slow two valgrind ns 2000
for program in one two; do
	for tool in untraced leakwrap lsan; do
		tab counts $program $tool instructions 1000
		tab counts $program $tool l1_misses 20
		tab counts $program $tool l2_misses 2
		tab counts $program $tool mispredicts 30
	done
done
tab counts two leakwrap l2_misses 40 # and 2: the median is 21
for tool in untraced leakwrap lsan; do
	tab counts-pairs 1000/4/1 $tool instructions 100
done
tab counts-pairs 1000/4/1 leakwrap l1_misses 1
tab counts-pairs 1000/4/1 lsan l2_misses 1
for tool in untraced leakwrap; do
	tab allocators mimalloc/1000 mimalloc-$tool ns 20
done
tab allocators mimalloc/1000 mimalloc-untraced ns 20
tab allocators mimalloc/1000 mimalloc-leakwrap ns 60 # and 20: the median is 40
printf 'skipped\ta thing\tno "reason" at all\n' >>"$W/runs.tsv"

awk -v date=2026-01-02T03:04:05Z -v cpu='A "CPU"' -v cpus=2 -v load=0.5 -v rounds=3 -v quick=0 \
	-f tests/bench/results.awk "$W/runs.tsv" >"$W/results.json" || fail "results.awk failed"
contains() {
	grep -qF -- "$2" "$1" || fail "no '$2' in $(cat "$1")"
}
contains "$W/results.json" '"cpu":"A \"CPU\""'
contains "$W/results.json" '"tool":"leakwrap","metric":"ns","median":250,"runs":[150,350,250]'
contains "$W/results.json" '"why":"no \"reason\" at all"'
if command -v python3 >/dev/null; then
	python3 -m json.tool "$W/results.json" >/dev/null || fail "results.json is not JSON"
fi

awk -f tests/bench/tables.awk "$W/results.json" | tr -s ' ' >"$W/tables" || fail "tables.awk failed"
contains "$W/results.json" \
	'"tool":"leakwrap","metric":"added_ns","median":20,"runs":[20,40,140,20,-80]'
contains "$W/tables" ' 1k 4 1 1 100.0 120.0 1.20 150.0 1.50 20.0 50.0 40% 100.0 107.0 1.07 7.0'
contains "$W/tables" ' 100k 4 1 2 200.0 250.0 1.25 300.0 1.50 50.0 100.0 50%'
contains "$W/tables" ' two 1.000 s 4.00 - 1.50 5.00 - - - 20.00'
contains "$W/tables" ' geometric mean 1 2.00 - 1.50 5.00' # of 1 and 4
# 3600 cycles of 1700
contains "$W/tables" ' two 1000 1.00 1.00 1.00 1.00 10.50 1.00 1.00 1.00 2.12 1.00'
contains "$W/tables" ' 1k 4 1 100 0 0 100 10 100 10%'
contains "$W/tables" ' mimalloc 1k 20.0 40.0 2.00 20.0'
awk -v clock=cpu -f tests/bench/tables.awk "$W/results.json" | tr -s ' ' >"$W/tables" ||
	fail "clock=cpu failed"
contains "$W/tables" ' two 0.500 s 2.00'
awk -v readme=1 -f tests/bench/tables.awk "$W/results.json" >"$W/readme" || fail "readme=1 failed"
contains "$W/readme" '| `two` | 1.00 s | **4.00** | 1.50 |'
contains "$W/readme" '| 100k | 4 | 2 | 50 of 100 | 18.5 |'
contains "$W/readme" '| 1k | 4 | 1 | 20 of 50 | - |'
row='| `two` | 1000 | 1.00 | 1.00 | 1.00 | 1.00 | 10.50 | 1.00 | 1.00 | 1.00 |'
contains "$W/readme" "$row **2.12** | 1.00 |"

mkdir -p "$W/earlier/bench"
echo figures >"$W/earlier/bench/runs.tsv"
(O=$W/earlier tests/bench/run frames fraems >"$W/run" 2>&1) && fail "a part 'fraems' is there"
contains "$W/run" "no part 'fraems'; there are: programs sampling counts grid shapes allocators"
equal "the figures of an earlier run" "$(cat "$W/earlier/bench/runs.tsv")" figures

# Each variable that a part takes from the environment passes through make, which may export its own
# variable of that name.
grep -oh '{BENCH_[A-Z_]*:=' tests/bench/lib.sh tests/bench/part-* | tr -d '{:=' |
	sort -u >"$W/taken"
[ -s "$W/taken" ] || fail "the parts take no variables"
while read -r variable; do
	! grep "^$variable " tests/bench/bench.mk || fail "make has its own $variable"
done <"$W/taken"
