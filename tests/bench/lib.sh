# shellcheck shell=sh
# lib.sh - what the parts of the benchmark share: how often to run, and where figures go.
#
# Sourced by tests/bench/run and by each part.  A figure is a line of $O/bench/runs.tsv:
#
#   PART CASE TOOL METRIC VALUE
#
# with tabs between; the same key is written once for each round, or for each turn of it, and results.awk makes medians of them.
# BENCH_QUICK=1 is a fast pass, which shows that everything runs and whose figures mean little.

: "${O:?}" "${BENCH_QUICK:=0}"
bench=$O/bench
runs=$bench/runs.tsv
work=$bench/work # for what the tools write; emptied after each run
quick() { [ "$BENCH_QUICK" != 0 ]; }
if quick; then
	: "${BENCH_ROUNDS:=1}" "${BENCH_TURNS:=1}" "${BENCH_MS:=20}" "${BENCH_PERCENT:=10}" "${BENCH_SLOW_PERCENT:=2}"
else
	: "${BENCH_ROUNDS:=9}" "${BENCH_TURNS:=5}" "${BENCH_MS:=20}" "${BENCH_PERCENT:=100}" "${BENCH_SLOW_PERCENT:=10}"
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

# What LeakSanitizer is told for speed: to trace, and not to search for leaks at the end.
in_lsan="LSAN_OPTIONS=detect_leaks=0"

# The program pairs.c as TOOL is linked; "nofp" before it takes the object without frame pointers.
pairs_program() {
	case $1 in
	nofp-*) echo "$bench/pairs-nofp.${1#nofp-}" ;;
	*) echo "$bench/pairs.$1" ;;
	esac
}

# pairs_in_turns PART CASE "ARGUMENTS" TOOL...: pairs.c as all of the tools measure it, in BENCH_TURNS turns of each.  $more_lsan and
# $more_leakwrap are further options.
more_lsan='' more_leakwrap=''
pairs_in_turns() {
	part=$1 case=$2 arguments=$3
	shift 3
	tools=$*
	fresh
	progress "$part: $case"
	set --
	for tool in $tools; do
		set -- "$@" "$in_lsan:$more_lsan LEAKWRAP_OPTIONS='log=$work/$tool:top=1:$more_leakwrap' exec '$(pairs_program "$tool")' $arguments"
	done
	"$bench/turns" "$BENCH_TURNS" "$@" >"$work/turns" || failed "$part: $case"
	while read -r number ns cpu_ns peak pairs waits recognized; do
		tool=$(echo "$tools" | cut -d ' ' -f "$number")
		record "$part" "$case" "$tool" ns "$ns"
		record "$part" "$case" "$tool" cpu_ns "$cpu_ns"
		record "$part" "$case" "$tool" peak_bytes "$peak"
		record "$part" "$case" "$tool" pairs_per_second "$pairs"
		record "$part" "$case" "$tool" waits_per_1000 "$waits"
		[ "$recognized" = - ] || record "$part" "$case" "$tool" recognized_percent "$recognized"
	done <"$work/turns"
	for tool in $tools; do
		[ ! -s "$work/$tool" ] || record "$part" "$case" "$tool" tracer_bytes "$(dump_number tracer_bytes "$work/$tool")"
	done
}

# dump_number KEY [LOG]: of the last dump in it, or in $work/dump.
dump_number() {
	sed -n "s/^leakwrap.* $1=\\([0-9.]*\\).*/\\1/p" "${2:-$work/dump}" | tail -n 1
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
