# shellcheck shell=sh
# lib.sh - how often the parts of the benchmark run, and where their figures go.
#
# tests/bench/run and each part source it. A figure is a line of $O/bench/runs.tsv:
#
#   PART CASE TOOL METRIC VALUE
#
# with tabs between. Each round, or each turn of a round, writes the same key once, and results.awk
# makes medians of these lines. BENCH_QUICK=1 is a fast pass: it shows that everything runs, and its
# figures mean little.

: "${O:?}" "${BENCH_QUICK:=0}"
bench=$O/bench
runs=$bench/runs.tsv
work=$bench/work # for the tools' files; emptied after each run
quick() { [ "$BENCH_QUICK" != 0 ]; }
if quick; then
	: "${BENCH_ROUNDS:=1}" "${BENCH_TURNS:=1}" "${BENCH_MS:=20}"
	: "${BENCH_PERCENT:=10}" "${BENCH_SLOW_PERCENT:=2}"
else
	: "${BENCH_ROUNDS:=9}" "${BENCH_TURNS:=5}" "${BENCH_MS:=20}"
	: "${BENCH_PERCENT:=100}" "${BENCH_SLOW_PERCENT:=10}"
fi

progress() {
	[ ! -t 2 ] || printf '\r\033[K%s' "$*" >&2
}

failed() {
	progress ''
	echo "failed: $*" >&2
	exit 1
}

# skipped WHAT WHY: says so on the terminal and in the results, once for all rounds.
skipped() {
	! cut -f 1,2 "$runs" | grep -qxF "$(printf 'skipped\t%s' "$1")" || return 0
	progress ''
	echo "skipped: $1: $2" >&2
	printf 'skipped\t%s\t%s\n' "$1" "$2" >>"$runs"
}

# record PART CASE TOOL METRIC VALUE: writes a figure.
record() {
	printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$runs"
}

fresh() {
	rm -rf "$work"
	mkdir -p "$work"
}

# Prints how much memory is available now, in MB.
memory_available() {
	awk '/^MemAvailable:/ { printf "%d", $2 / 1024 }' /proc/meminfo
}

# For a fair race, LeakSanitizer traces, and does not search for leaks at the end.
in_lsan="LSAN_OPTIONS=detect_leaks=0"

# pairs_program TOOL: prints the file of pairs.c as linked for TOOL. "nofp-" in front of TOOL names
# the object without frame pointers.
pairs_program() {
	case $1 in
	nofp-*) echo "$bench/pairs-nofp.${1#nofp-}" ;;
	*) echo "$bench/pairs.$1" ;;
	esac
}

# pairs_in_turns PART CASE "ARGUMENTS" TOOL...: measures pairs.c with all of the tools, in
# BENCH_TURNS turns of each. $more_lsan and $more_leakwrap are further options.
more_lsan='' more_leakwrap=''
pairs_in_turns() {
	part=$1 case=$2 arguments=$3
	shift 3
	tools=$*
	fresh
	progress "$part: $case"
	set --
	for tool in $tools; do
		options="LEAKWRAP_OPTIONS='log=$work/$tool:top=1:$more_leakwrap'"
		set -- "$@" \
			"$in_lsan:$more_lsan $options exec '$(pairs_program "$tool")' $arguments"
	done
	"$bench/turns" "$BENCH_TURNS" "$@" >"$work/turns" || failed "$part: $case"
	while read -r number ns cpu_ns peak pairs waits recognized; do
		tool=$(echo "$tools" | cut -d ' ' -f "$number")
		record "$part" "$case" "$tool" ns "$ns"
		record "$part" "$case" "$tool" cpu_ns "$cpu_ns"
		record "$part" "$case" "$tool" peak_bytes "$peak"
		record "$part" "$case" "$tool" pairs_per_second "$pairs"
		record "$part" "$case" "$tool" waits_per_1000 "$waits"
		[ "$recognized" = - ] ||
			record "$part" "$case" "$tool" recognized_percent "$recognized"
	done <"$work/turns"
	for tool in $tools; do
		[ ! -s "$work/$tool" ] || record "$part" "$case" "$tool" tracer_bytes \
			"$(dump_number tracer_bytes "$work/$tool")"
	done
}

# dump_number KEY [LOG]: prints the value of KEY in the last dump of LOG, or of $work/dump.
dump_number() {
	sed -n "s/^leakwrap.* $1=\\([0-9.]*\\).*/\\1/p" "${2:-$work/dump}" | tail -n 1
}

# rounds COMMAND...: runs the command once for each round. A round measures all cases of a part, so
# that a disturbance of some seconds does not affect a case in most of its rounds.
rounds() {
	round=0
	while [ $round -lt "$BENCH_ROUNDS" ]; do
		round=$((round + 1))
		"$@"
	done
}
