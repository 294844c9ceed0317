#!/bin/sh
# A number of 2^63 or more damages its line, and sums stop below it: no number turns negative, in
# any report.
# timeout: 400
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

build_checked
lw=$O/leakwrap.checked
most=9223372036854775807 # INT64_MAX
more=9223372036854775808
all=18446744073709551615 # UINT64_MAX

# dump PID.N SITE...: a SITE is BYTES or BYTES,BLOCKS
dump() {
	pid=$1 offset=16
	shift
	for site; do
		echo "${site%,*} ${site#*,} complete 0x$offset 0x10"
		offset=$((offset + 1))
	done | make_dump "$pid" 2026-11-20T18:36:01Z /no/such/program 0x10000 none
}
# total NUMBER: sets the live bytes and blocks of a dump
total() {
	sed "s/total live_bytes=[-0-9]* live_blocks=[-0-9]*/total live_bytes=$1 live_blocks=$1/"
}
# No number is negative, but the page's marks for nothing.
no_negative() {
	shows_not '[ :,[]-[0-9][0-9]'
	[ "$1" = html ] || [ "$1" = pprof ] || shows_not '[ :,[]-[0-9]'
}
report() {
	for format in json text html folded pprof; do
		status_is 0 "$lw" report --all -f $format "$@"
		no_negative $format
	done
	status_is 0 "$lw" report -f json "$@"
	grep 'is damaged' "$W/err" >"$W/damage"
}
damaged() {
	grep -q "$1" "$W/damage" || fail "$2: $(cat "$W/err")"
}

# One number: the largest is taken, a larger one is not.
dump 7.1 $most,$most | total $most >"$W/log"
report "$W/log"
shows "\"live_bytes\":$most,\"live_blocks\":$most,\"stack\""
equal "damage" "$(cat "$W/damage")" ""
for number in $more $all 99999999999999999999999; do
	dump 7.1 5 | sed "s/: 5 bytes/: $number bytes/" >"$W/log"
	report "$W/log"
	damaged 'a call site is damaged' "bytes=$number"
	dump 7.1 5 | total "$number" >"$W/log"
	report "$W/log"
	damaged 'a number is damaged' "live_bytes=$number"
	{
		dump 7.1 5
		dump "$number.1" 5
		dump 7.1 5 | sed "s/7\.1/7.$number/"
	} >"$W/log"
	report "$W/log"
	equal "dumps, with a pid of $number" "$(grep -o '"pid":[0-9]*' "$W/out")" '"pid":7'
	equal "damage" "$(cat "$W/damage")" ""
	echo "leakwrap[7.1] dump version=1 reason=misuse time=2026-11-20T18:36:01Z program=/a
leakwrap[7.1] misuse double_free pointer=0x10 thread=$number function=free
leakwrap[7.1] misuse block address=0x10 bytes=$number function=malloc
leakwrap[7.1] end sites=0 lines=4 dump_ns=1" >"$W/log"
	dump 8.1 5 >>"$W/log"
	report "$W/log"
	damaged 'what was misused is damaged' "misuse $number"
done

# Sums within a dump.
dump 7.1 $most 1 5 | total $most >"$W/log"
report "$W/log"
damaged 'its call sites hold more than there can be' "a sum of bytes"
dump 7.1 1,$most 1,1 1,5 | total $most >"$W/log"
report "$W/log"
damaged 'its call sites hold more than there can be' "a sum of blocks"

# Sums over dumps, and differences of them.
dump 8.1 $most,$most | total $most >"$W/other"
dump 7.1 $most,$most | total $most >"$W/log"
report "$W/log" "$W/other"
for by in function module; do
	status_is 0 "$lw" report --merge --by=$by "$W/log" "$W/other"
	shows "9,223,372,036,854,775,807 "
done
status_is 0 "$lw" report --merge "$W/log" "$W/other"
shows '  #1 9,223,372,036,854,775,807 bytes'
shows '^  9,223,372,036,854,775,807 bytes .* live in 9,223,372,036,854,775,807 blocks '
status_is 0 "$lw" report --merge -f html "$W/log" "$W/other"
no_negative html
dump 7.1 1,1 | total 1 >"$W/old"
dump 7.2 $most,$most | total $most >"$W/new"
for format in text json html folded pprof; do
	status_is 0 "$lw" diff -f $format "$W/old" "$W/new"
	status_is 0 "$lw" diff -f $format "$W/new" "$W/old"
	for by in '' --by=function; do
		case $by$format in --by*html | --by*folded | --by*pprof) continue ;; esac
		# shellcheck disable=SC2086 # maybe no option
		status_is 0 "$lw" report --growth $by -f $format "$W/old" "$W/new"
		no_negative $format
	done
done
status_is 0 "$lw" report --growth "$W/old" "$W/new"
shows '9,223,372,036,854,775,80[67] bytes'
for pid in 7 8 9; do
	cat "$W/old" "$W/new" | sed "s/^leakwrap.7/leakwrap[$pid/" >"$W/grown.$pid"
done
status_is 0 "$lw" report --merge --growth "$W"/grown.*
shows 'by 9,223,372,036,854,775,807 bytes in all, in 3 of 3 processes'
echo "leak:chain" >"$W/suppressions"
status_is 0 "$lw" report --merge --suppressions="$W/suppressions" "$W/log" "$W/other"

# A time that no machine runs for is not known: growth counts by the clock.
number=0
for uptime in 1 2305843009213693952 4611686018427387904 9000000000000000000 $most $more; do
	number=$((number + 1))
	dump 7.$number $((100 * number)) |
		sed "s/18:36:01Z/18:0$number:00Z uptime=$uptime/"
done >"$W/log"
status_is 0 "$lw" report --growth "$W/log"
shows 'grows steadily by 500 bytes, 5.86 KiB an hour: 100 to 600 bytes'
status_is 0 "$lw" report --merge --growth "$W/log"
shows 'grew steadily by 500 bytes, by 500 bytes in all'
