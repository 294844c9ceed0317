#!/bin/sh
# With --no-system and --origin each total counts only the call sites that are left, and the report
# says whose blocks it leaves out. What the call sites do not tell is missing.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/log" <<'END'
leakwrap[7.1] dump version=1 reason=signal time=2026-11-20T18:36:07Z program=/opt/server
leakwrap[7.1] total live_bytes=6000000 live_blocks=60 call_sites=3
leakwrap[7.1] sampling sample_interval=524288 sampled_blocks=13 live_bytes_error=1300000
leakwrap[7.1] allocated allocated_bytes=9000000 allocated_blocks=90 temporary_blocks=7
leakwrap[7.1] peak peak_bytes=7000000 peak_blocks=70 peak_time=2026-11-20T18:30:00Z
leakwrap[7.1] mark since_mark_bytes=600 since_mark_blocks=6 mark_time=2026-11-20T18:20:00Z
leakwrap[7.1] stacks complete_stack_bytes_percent=50.00 truncated_blocks=30 guessed_blocks=0
leakwrap[7.1] tracer tracer_bytes=40960
leakwrap[7.1] site 1: 3000000 bytes in 30 blocks, truncated origin=system_library sampled=6 \
error=1200000 allocated_bytes=3000000 allocated_blocks=30 temporary_blocks=0 peak_bytes=4000000 \
peak_blocks=40 since_mark_bytes=100 since_mark_blocks=1
leakwrap[7.1]   #0 0x401234 load+0x4 [1] server+0x1234
leakwrap[7.1] site 2: 2000000 bytes in 20 blocks, complete origin=library module=1 sampled=4 \
error=400000 allocated_bytes=2000000 allocated_blocks=20 temporary_blocks=0 peak_bytes=2000000 \
peak_blocks=20 since_mark_bytes=200 since_mark_blocks=2
leakwrap[7.1]   #0 0x401334 parse+0x4 [1] server+0x1334
leakwrap[7.1] site 3: 1000000 bytes in 10 blocks, complete sampled=3 error=300000 \
allocated_bytes=1000000 allocated_blocks=10 temporary_blocks=2 peak_bytes=1000000 peak_blocks=10 \
since_mark_bytes=300 since_mark_blocks=3
leakwrap[7.1]   #0 0x401434 keep+0x4 [1] server+0x1434
leakwrap[7.1] site 4: 0 bytes in 0 blocks, complete origin=system_library sampled=0 error=0 \
allocated_bytes=3000000 allocated_blocks=30 temporary_blocks=5 peak_bytes=0 peak_blocks=0 \
since_mark_bytes=0 since_mark_blocks=0
leakwrap[7.1]   #0 0x401534 churn+0x4 [1] server+0x1534
leakwrap[7.1] module 1 0x400000-0x408000 bias=0x400000 build_id=none path=/opt/server
leakwrap[7.1] end sites=4 lines=18 dump_ns=1000
END
# A dump's line is one line.
sed -i -e ':again' -e '/\\$/ { N; s/\\\n//; b again' -e '}' "$W/log"

# totals ARGUMENT...: prints numbers of the totals in JSON, and of the line about what is left out.
totals() {
	status_is 0 "$lw" report -f json "$@"
	jq -r '.dumps[-1].totals | [.live_bytes, .live_blocks, .call_sites, .truncated_blocks,
		.live_bytes_error, .allocated_bytes, .allocated_blocks, .temporary_blocks,
		.peak_bytes, .peak_blocks, .since_mark_bytes, .since_mark_blocks,
		(.complete_stack_bytes_percent | (floor? // .))] |
		map(. // "-" | tostring) | join(" ")' "$W/out"
	status_is 0 "$lw" report "$@"
	sed -n 's/^  \(.*\) left out$/\1/p' "$W/out"
}
equal "all" "$(totals "$W/log")" \
	"6000000 60 3 30 1300000 9000000 90 7 7000000 70 600 6 50"
equal "--no-system" "$(totals --no-system "$W/log")" \
	"3000000 30 2 0 500000 3000000 30 2 3000000 30 500 5 100
3,000,000 bytes in 30 blocks of system libraries"
equal "--origin=library" "$(totals --origin=library "$W/log")" \
	"2000000 20 1 0 400000 2000000 20 0 2000000 20 200 2 100
4,000,000 bytes in 40 blocks of the program's own code and system libraries"
equal "--origin=program" "$(totals --origin=program "$W/log")" \
	"1000000 10 1 0 300000 1000000 10 2 1000000 10 300 3 100
5,000,000 bytes in 50 blocks of shared libraries and system libraries"
equal "--origin=system_library" "$(totals --origin=system_library "$W/log")" \
	"3000000 30 1 30 1200000 6000000 60 5 4000000 40 100 1 0
3,000,000 bytes in 30 blocks of the program's own code and shared libraries"
equal "nothing" "$(totals --origin=system_library --no-system "$W/log")" \
	"0 0 0 0 0 0 0 0 0 0 0 0 -
6,000,000 bytes in 60 blocks of the program's own code and shared libraries and system libraries"

# What a library has lost is left out, too.
sed -e 's|\] mark .*|] kinds definite_bytes=700 definite_blocks=3 reachable_bytes=9|' \
	-e '/site 2:/s|$| definite=400/2 reachable=9/1|; /site 3:/s|$| definite=300/1|' \
	"$W/log" >"$W/lost"
status_is 0 "$lw" report -f json --origin=program "$W/lost"
jq -e '.dumps[0].totals.kinds | .definite_bytes == 300 and .definite_blocks == 1 and
	.reachable_bytes == 0' "$W/out" >/dev/null || fail "kinds: $(cat "$W/out")"

# The text has the same totals.
status_is 0 "$lw" report --no-system "$W/log"
shows '^  estimated from 7 sampled blocks, .*; standard error 500,000 bytes$'
shows '^  allocated so far: 3,000,000 bytes in 30 blocks, 2 of them temporary$'
shows '^  of these since the mark, .*: 500 bytes in 5 blocks$'
shows '^  at the peak, .*: 3,000,000 bytes in 30 blocks$'
shows ', 66.7 % of the peak, now 2,000,000 bytes$'
shows '^  #1 2,000,000 bytes in 20 blocks'

# A sum leaves out what its dumps leave out.
sed 's/\[7\.1\]/[8.1]/' "$W/log" >"$W/second"
status_is 0 "$lw" report --merge --no-system "$W/log" "$W/second"
shows '^  6,000,000 bytes .* live in 60 blocks at 2 call sites$'
shows '^  estimated from 14 sampled blocks, .*; standard error 707,106 bytes$'
shows '^  6,000,000 bytes in 60 blocks of system libraries left out$'

# The dump does not show all call sites: the origin of the rest is not known. Its live bytes stay in
# the totals, and so does its error.
sed -e '/site 3:/,/keep/d; /site 4:/,/churn/d; s/sites=4 lines=18/sites=2 lines=14/' \
	-e '/\] total /s/$/ inherited_bytes=50 inherited_blocks=5 inherited=included/' \
	"$W/log" >"$W/top"
equal "some call sites" "$(totals --no-system "$W/top" | head -n 1)" \
	"3000000 30 2 0 500000 - - - - - - - -"
for total in 'allocated so far' 'of these since' 'at the peak' 'before the fork' 'stacks:'; do
	shows_not "$total"
done
# Call sites that were given back have allocated, too.
sed 's/ allocated allocated_bytes=9/ allocated allocated_bytes=10/' "$W/log" >"$W/given_back"
equal "given back" "$(totals --no-system "$W/given_back" | head -n 1)" \
	"3000000 30 2 0 500000 - - - 3000000 30 500 5 100"
