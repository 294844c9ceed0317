#!/bin/sh
# Every format shows that a dump estimates from a sample: intervals, errors, what was allocated.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/log" <<'END'
leakwrap[7.1] dump version=1 reason=signal time=2026-11-20T18:36:07Z program=/opt/server
leakwrap[7.1] total live_bytes=3000000 live_blocks=3010 call_sites=2
leakwrap[7.1] sampling sample_interval=524288 sampled_blocks=9 live_bytes_error=700000
leakwrap[7.1] allocated allocated_bytes=13000000 allocated_blocks=200000
leakwrap[7.1] stacks complete_stack_bytes_percent=100.00 truncated_blocks=0 guessed_blocks=0
leakwrap[7.1] tracer tracer_bytes=40960
leakwrap[7.1] site 1: 2000000 bytes in 10 blocks, complete sampled=5 error=600000 \
allocated_bytes=2000000 allocated_blocks=10
leakwrap[7.1]   #0 0x401234 load+0x4 [1] server+0x1234
leakwrap[7.1] site 2: 1000000 bytes in 3000 blocks, complete sampled=4 error=360555 \
allocated_bytes=1000000 allocated_blocks=3000
leakwrap[7.1]   #0 0x401334 parse+0x4 [1] server+0x1334
leakwrap[7.1] site 3: 0 bytes in 0 blocks, complete sampled=0 error=0 \
allocated_bytes=10000000 allocated_blocks=196990
leakwrap[7.1]   #0 0x401434 churn+0x4 [1] server+0x1434
leakwrap[7.1] module 1 0x400000-0x408000 bias=0x400000 build_id=none path=/opt/server
leakwrap[7.1] end sites=3 lines=14 dump_ns=1000
END
# A dump's line is one line.
sed -i -e ':again' -e '/\\$/ { N; s/\\\n//; b again' -e '}' "$W/log"

status_is 0 "$lw" report "$W/log"
shows '^  3,000,000 bytes .* live in 3,010 blocks at 2 call sites'
shows '^  estimated from 9 sampled blocks, one for each 512 KiB allocated; standard error 700,000'
shows '^  allocated so far: 13,000,000 bytes in 200,000 blocks'
shows '#1 2,000,000 bytes in 10 blocks, 66.7 %, standard error 30.0 %'
shows '^  1 call site without live blocks has allocated 10,000,000 bytes in 196,990 blocks'
! grep -q churn "$W/out" || fail "text shows a call site without live blocks"

status_is 0 "$lw" report -f json "$W/log"
shows '"sample_interval":524288,"sampled_blocks":9,"live_bytes_error":700000,"allocated_bytes":130'
shows '"live_blocks":10,"sampled_blocks":5,"live_bytes_error":600000,"allocated_bytes":2000000'
if ${HOSTCC:-cc} -std=gnu11 -O1 -o "$W/validate" tests/tool/validate.c -ljansson; then
	"$W/validate" tests/tool/report.schema.json "$W/out" || fail "the JSON does not fit"
fi

status_is 0 "$lw" report -f folded "$W/log"
equal "folded" "$(cat "$W/out")" "load 2000000
parse 1000000"

status_is 0 "$lw" report -f html "$W/log"
shows '"sampled":\[524288,9,700000\]'

# The errors of two processes add up by their squares.
sed 's/\[7\.1\]/[8.1]/' "$W/log" >"$W/second"
status_is 0 "$lw" report --merge "$W/log" "$W/second"
shows '^  estimated from 18 sampled blocks, .* standard error 989,949 bytes'
shows '^  allocated so far: 26,000,000 bytes in 400,000 blocks'

need go
export HOME="$W" GOCACHE="$W/cache" GOFLAGS=-mod=mod PPROF_TMPDIR="$W"
status_is 0 "$lw" report -f pprof -o "$W/profile" "$W/log"
go tool pprof -raw "$W/profile" >"$W/out" 2>"$W/err" || fail "$(cat "$W/err")"
shows '^PeriodType: space bytes'
shows '^Period: 524288'
shows '^alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes\[dflt\]'
shows '^ *10 *2000000 *10 *2000000: '
shows '^ *196990 *10000000 *0 *0: '
