# shellcheck shell=sh
# lib.sh - what the parts of the benchmark share: how often to run, and where figures go.
#
# Sourced by tests/bench/run and by each part.  A figure is a line of $O/bench/runs.tsv:
#
#   PART CASE TOOL METRIC VALUE
#
# with tabs between; the same key is written once for each round, and report.awk makes medians of them.
# BENCH_QUICK=1 is a fast pass, which shows that everything runs and whose figures mean little.

: "${O:?}" "${BENCH_QUICK:=0}"
bench=$O/bench
runs=$bench/runs.tsv
work=$bench/work # for what the tools write; emptied after each run
quick() { [ "$BENCH_QUICK" != 0 ]; }
if quick; then
	: "${BENCH_ROUNDS:=1}" "${BENCH_MS:=20}" "${BENCH_PERCENT:=10}" "${BENCH_SLOW_PERCENT:=2}"
else
	: "${BENCH_ROUNDS:=9}" "${BENCH_MS:=50}" "${BENCH_PERCENT:=100}" "${BENCH_SLOW_PERCENT:=10}"
fi

progress() {
	[ ! -t 2 ] || printf '\r\033[K%s' "$*" >&2
}

failed() {
	progress ''
	echo "failed: $*" >&2
	exit 1
}

# skipped WHAT WHY: said on the terminal and in the results, once for all rounds.
skipped() {
	! cut -f 1,2 "$runs" | grep -qxF "$(printf 'skipped\t%s' "$1")" || return 0
	progress ''
	echo "skipped: $1: $2" >&2
	printf 'skipped\t%s\t%s\n' "$1" "$2" >>"$runs"
}

# record PART CASE TOOL METRIC VALUE
record() {
	printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$runs"
}

fresh() {
	rm -rf "$work"
	mkdir -p "$work"
}

# How much memory can be had now, in MB.
memory_available() {
	awk '/^MemAvailable:/ { printf "%d", $2 / 1024 }' /proc/meminfo
}

# What each tool is told for speed: to trace, and not to search for leaks at the end.  leakwrap writes its dump.
in_lsan="LSAN_OPTIONS=detect_leaks=0"
in_leakwrap="LEAKWRAP_OPTIONS=log=$work/dump"

# run_pairs PART CASE TOOL "ARGUMENTS": one run of pairs.c.  TOOL is the linked program's suffix; "nofp" before it
# takes the object without frame pointers.  $more_lsan and $more_leakwrap are further options.
more_lsan='' more_leakwrap=''
run_pairs() {
	case $3 in
	nofp-*) program=$bench/pairs-nofp.${3#nofp-} ;;
	*) program=$bench/pairs.$3 ;;
	esac
	fresh
	progress "$1: $2, $3"
	# shellcheck disable=SC2086 # a list
	result=$(env "$in_lsan:$more_lsan" "$in_leakwrap:top=1:$more_leakwrap" "$program" $4) || failed "$program $4"
	# shellcheck disable=SC2086
	set -- "$1" "$2" "$3" $result
	record "$1" "$2" "$3" ns "$4"
	record "$1" "$2" "$3" cpu_ns "$5"
	record "$1" "$2" "$3" peak_bytes "$6"
	record "$1" "$2" "$3" pairs_per_second "$7"
	record "$1" "$2" "$3" waits_per_1000 "$8"
	[ "$9" = - ] || record "$1" "$2" "$3" recognized_percent "$9"
	[ ! -s "$work/dump" ] || record "$1" "$2" "$3" tracer_bytes "$(dump_number tracer_bytes)"
}

# dump_number KEY: of the last dump in $work/dump.
dump_number() {
	sed -n "s/^leakwrap.* $1=\\([0-9.]*\\).*/\\1/p" "$work/dump" | tail -n 1
}

# rounds COMMAND...: as often as there are rounds.  A round goes through all that a part measures, so that what disturbs the machine for
# some seconds disturbs no case in most of its rounds.
rounds() {
	round=0
	while [ $round -lt "$BENCH_ROUNDS" ]; do
		round=$((round + 1))
		"$@"
	done
}
