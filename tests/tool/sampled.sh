#!/bin/sh
# Every format shows that a dump estimates from a sample: intervals, errors, what was allocated. A
# comparison says which changes may be chance, and when recording was off.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/log" <<'END'
leakwrap[7.1] dump version=1 reason=signal time=2026-11-20T18:36:07Z program=/opt/server
leakwrap[7.1] total live_bytes=3000000 live_blocks=3010 call_sites=2
leakwrap[7.1] sampling sample_interval=524288 sampled_blocks=9 live_bytes_error=700000
leakwrap[7.1] allocated allocated_bytes=13000000 allocated_blocks=200000 \
temporary_blocks=150000
leakwrap[7.1] stacks complete_stack_bytes_percent=100.00 truncated_blocks=0 guessed_blocks=0
leakwrap[7.1] tracer tracer_bytes=40960
leakwrap[7.1] site 1: 2000000 bytes in 10 blocks, complete sampled=5 error=600000 \
allocated_bytes=2000000 allocated_blocks=10 temporary_blocks=0
leakwrap[7.1]   #0 0x401234 load+0x4 [1] server+0x1234
leakwrap[7.1] site 2: 1000000 bytes in 3000 blocks, complete sampled=4 error=360555 \
allocated_bytes=1000000 allocated_blocks=3000 temporary_blocks=0
leakwrap[7.1]   #0 0x401334 parse+0x4 [1] server+0x1334
leakwrap[7.1] site 3: 0 bytes in 0 blocks, complete sampled=0 error=0 \
allocated_bytes=10000000 allocated_blocks=196990 temporary_blocks=150000
leakwrap[7.1]   #0 0x401434 churn+0x4 [1] server+0x1434
leakwrap[7.1] module 1 0x400000-0x408000 bias=0x400000 build_id=none path=/opt/server
leakwrap[7.1] end sites=3 lines=14 dump_ns=1000
END
# A dump's line is one line.
sed -i -e ':again' -e '/\\$/ { N; s/\\\n//; b again' -e '}' "$W/log"

status_is 0 "$lw" report "$W/log"
shows '^  3,000,000 bytes .* live in 3,010 blocks at 2 call sites'
shows '^  estimated from 9 sampled blocks, one for each 512 KiB allocated; standard error 700,000'
shows '^  allocated so far: 13,000,000 bytes in 200,000 blocks, 150,000 of them temporary$'
shows '#1 2,000,000 bytes in 10 blocks, 66.7 %, standard error 30.0 %'
shows '^  1 call site without live blocks has allocated 10,000,000 bytes in 196,990 blocks'
# What was allocated most often comes last, down to a hundredth of all blocks.
sed -n '/^  allocated most often so far$/,/^  stacks:/p' "$W/out" >"$W/often"
for line in '196,990 blocks of 10,000,000 bytes, 98.5 % of all blocks, 150,000 of them temporary;' \
	'3,000 blocks of 1,000,000 bytes, .* live now: 3,000 blocks$'; do
	grep -q "^    $line" "$W/often" || fail "text lacks '$line': $(cat "$W/out")"
done
equal "often" "$(grep -c ' of all blocks' "$W/often") $(grep -c churn "$W/out")" "2 1"

status_is 0 "$lw" report -f json "$W/log"
shows '"sample_interval":524288,"sampled_blocks":9,"live_bytes_error":700000,"allocated_bytes":130'
shows '"live_blocks":10,"sampled_blocks":5,"live_bytes_error":600000,"allocated_bytes":2000000'
shows '"allocated_blocks":196990,"temporary_blocks":150000[,}]'
if ${HOSTCC:-cc} -std=gnu11 -O1 -o "$W/validate" tests/tool/validate.c -ljansson; then
	"$W/validate" tests/tool/report.schema.json "$W/out" || fail "the JSON does not fit"
fi

status_is 0 "$lw" report -f folded "$W/log"
equal "folded" "$(cat "$W/out")" "load 2000000
parse 1000000"

status_is 0 "$lw" report -f html "$W/log"
shows '"sampled":\[524288,9,700000\]'

# A comparison says which changes may be chance, and shows these last. The error of a change is the
# root of the sum of the squares: 600,000 and 80,000 are 605,309.
sed -e 's/\[7\.1\]/[7.2]/' -e '/site 1:/s/2000000/3200000/; /site 1:/s/=600000/=80000/' \
	-e '/site 2:/s/1000000/2100000/' -e 's/=3000000/=5300000/' \
	"$W/log" >"$W/next"
cat "$W/log" "$W/next" >"$W/series"
status_is 0 "$lw" diff "$W/log" "$W/next"
estimated='^  estimated from 9 sampled blocks, one for each'
equal "how exact the dumps are" "$(grep -c "$estimated" "$W/out")" 2
shows '^  +2,300,000 bytes: 3,000,000 before, 5,300,000 after; standard error 989,949 bytes$'
equal "changes" "$(sed -n 's/^  \(.*, now .*\)/\1/p' "$W/out")" \
	"grew +1,100,000 bytes in +0 blocks, now 2,100,000 bytes in 3,000 blocks; \
standard error 509,901 bytes
perhaps grew +1,200,000 bytes in +0 blocks, now 3,200,000 bytes in 10 blocks; \
standard error 605,309 bytes"
shows '^  perhaps: a change within twice its standard error shows nothing$'
status_is 0 "$lw" diff -f json "$W/log" "$W/next"
shows ',"bytes_error":989949,"unchanged_call_sites":'
shows '"new_bytes":3200000,.*,"bytes_error":605309,"may_be_chance":true,'
shows '"new_bytes":2100000,.*,"bytes_error":509901,"may_be_chance":false,'
status_is 0 "$lw" report --growth "$W/series"
equal "how exact the series is" "$(grep -c "$estimated" "$W/out")" 2
equal "growth" "$(sed -n 's/^  \(.*\) by [0-9,]* bytes: .*; \(.*\)/\1; \2/p' "$W/out")" \
	"grows steadily; standard error 509,901 bytes
perhaps grows steadily; standard error 605,309 bytes"
status_is 0 "$lw" report --growth -f json "$W/series"
shows '"bytes_error":605309,"may_be_chance":true,'

# The errors of two processes add up by their squares.
sed 's/\[7\.1\]/[8.1]/' "$W/log" >"$W/second"
status_is 0 "$lw" report --merge "$W/log" "$W/second"
shows ' live in 6,020 blocks at 2 call sites'
shows '^  estimated from 18 sampled blocks, .* standard error 989,949 bytes'
shows '^  allocated so far: 26,000,000 bytes in 400,000 blocks, 300,000 of them temporary$'

# Dumps of older runtimes do not tell temporary blocks.
sed 's/ temporary_blocks=[0-9]*//' "$W/second" >"$W/older"
status_is 0 "$lw" report --merge "$W/log" "$W/older"
shows '^  allocated so far: 26,000,000 bytes in 400,000 blocks$'
shows '^  note: the number of temporary blocks is left out: only 1 of 2 processes tell it'

# What is recorded, the peak and the mark of several processes. The times are the first and last.
sed -e '/ sampling /d; /\] allocated/d; s/ sampled=.*//' -e '/end sites/s/lines=14/lines=15/' \
	-e '/\.1\] stacks/i\
leakwrap[7.1] recording state=off since=2026-11-20T18:00:00Z\
leakwrap[7.1] peak peak_bytes=9000000 peak_blocks=900 peak_time=2026-11-20T18:30:00Z\
leakwrap[7.1] mark since_mark_bytes=50 since_mark_blocks=5 mark_time=2026-11-20T18:20:00Z' \
	-e '/site 1:/s/$/ peak_bytes=8000000 peak_blocks=800/' \
	-e '/site 1:/s/$/ since_mark_bytes=50 since_mark_blocks=5/' \
	"$W/log" >"$W/off"
off='^  recording is off since 2026-11-20 18:00:00 UTC; blocks .* while it was off are missing$'
status_is 0 "$lw" report --merge "$W/off"
shows "$off"
sed 's/\[7\.1\]/[7.2]/; s/ 2000000 bytes/ 9000000 bytes/' "$W/off" >"$W/later"
status_is 0 "$lw" diff "$W/log" "$W/later"
equal "recording in diff" "$(grep -c "$off" "$W/out") $(grep -c "$estimated" "$W/out")" "1 1"
cat "$W/log" "$W/later" >"$W/series"
status_is 0 "$lw" report --growth "$W/series"
shows "$off"
sed -e 's/\[7\.1\]/[8.1]/; s/T18:[03]/T19:0/; s/state=off/state=all/' "$W/off" >"$W/all"
status_is 0 "$lw" report --merge "$W/off" "$W/all"
shows "^  recording differs by process since 2026-11-20 19:.* while it was off may be missing$"
shows "^  of these since each process's mark, 2026-11-20 18:20:00 UTC: 100 bytes in 10 blocks"
shows "^  at each process's own peak, .*18:30:00 UTC to .*19:00:00 UTC: 18,000,000 bytes in 1,800"
shows '^    16,000,000 bytes in 1,600 blocks, 88.9 % of the peak, now 4,000,000 bytes'
shows '^  #1 .* 100 bytes since the mark'
# A process that recorded everything, without a peak or a mark.
sed '/ recording /d; / peak /d; / mark /d; s/ peak_bytes=.*//; s/\[7/[9/' "$W/off" >"$W/plain"
status_is 0 "$lw" report --merge "$W/all" "$W/plain"
shows '^  recording all blocks since 2026-11-20 19:00:00 UTC; blocks .* before may be missing$'
# Nothing is missing where recording was never off.
sed 's/\(state=\)all\( since=.*\)/\1sample\2 missing=none/' "$W/all" >"$W/never_off"
status_is 0 "$lw" report "$W/never_off"
shows '^  recording a sample since 2026-11-20 19:00:00 UTC$'
status_is 0 "$lw" report --merge "$W/never_off" "$W/plain"
shows '^  recording differs by process since 2026-11-20 19:00:00 UTC$'
! grep -q churn "$W/out" || fail "text shows a call site about which nothing is known"
! grep -Eq 'own peak|since .* mark:' "$W/out" || fail "text sums up the peaks of some processes"
shows '^  note: the peak is left out: only 1 of 2 processes tell it'
shows '^  note: what was allocated since the mark is left out: only 1 of 2 processes tell it'
# What some processes have allocated is not the sum. Two samples may have different intervals.
sed 's/\[8/[10/; s/524288/65536/' "$W/second" >"$W/closer"
status_is 0 "$lw" report --merge "$W/log" "$W/closer" "$W/plain"
! grep -q 'allocated so far:' "$W/out" || fail "text sums up what some processes have allocated"
shows '^  note: what was allocated so far is left out: only 2 of 3 processes tell it'
shows '^  note: the largest of several sampling intervals is shown'
status_is 0 "$lw" report -f pprof -o "$W/mixed" "$W/log" "$W/plain"

# Since all blocks are recorded again, and no sample is left, the numbers are no estimates.
sed -e '/ sampling /i\
leakwrap[7.1] recording state=all since=2026-11-20T18:00:00Z missing=none' \
	-e 's/sampled_blocks=9 live_bytes_error=700000/sampled_blocks=0 live_bytes_error=0/' \
	"$W/log" >"$W/again"
status_is 0 "$lw" report "$W/again"
shows '^  recording all blocks since 2026'
! grep 'estimated from' "$W/out" || fail "a report of all blocks is called an estimate"

need go
export HOME="$W" GOCACHE="$W/cache" GOFLAGS=-mod=mod PPROF_TMPDIR="$W"
status_is 0 "$lw" report -f pprof -o "$W/profile" "$W/log"
go tool pprof -raw "$W/profile" >"$W/out" 2>"$W/err" || fail "$(cat "$W/err")"
shows '^PeriodType: space bytes'
shows '^Period: 524288'
shows '^alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes\[dflt\]'
shows '^ *10 *2000000 *10 *2000000: '
shows '^ *196990 *10000000 *0 *0: '
allocated_bytes() {
	awk '/^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+: / { n += $2 } END { print n }' "$W/out"
}
equal "allocated bytes" "$(allocated_bytes)" 13000000
sed -e 's/\] stacks .*/] kinds definite_bytes=2000000 definite_blocks=10/' \
	-e '/site 1:/s|$| definite=1000000/5 reachable=1000000/5|' "$W/log" >"$W/lost"
status_is 0 "$lw" report -f pprof -o "$W/profile" "$W/lost"
go tool pprof -raw "$W/profile" >"$W/out" 2>"$W/err" || fail "$(cat "$W/err")"
equal "allocated bytes by kinds" "$(allocated_bytes)" 13000000
for logs in "$W/log $W/closer" "$W/closer $W/log"; do
	# shellcheck disable=SC2086 # words
	status_is 0 "$lw" report -f pprof -o "$W/profile" $logs
	go tool pprof -raw "$W/profile" >"$W/out" 2>"$W/err" || fail "$(cat "$W/err")"
	shows '^Period: 524288' # the largest
done
go tool pprof -raw "$W/mixed" >"$W/out" 2>"$W/err" || fail "$(cat "$W/err")"
shows '^inuse_objects/count inuse_space/bytes\[dflt\]'
