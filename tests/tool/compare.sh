#!/bin/sh
# diff matches call sites between runs and between builds; growth ranks a leak before a cache.
#
# The runs have other addresses.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

build leaky tests/tool/leaky.c -Wl,--build-id
LEAKWRAP_OPTIONS=log="$W/old" "$W/leaky" 1 || fail leaky
LEAKWRAP_OPTIONS=log="$W/new" "$W/leaky" 4 || fail leaky
# In each round make_basket gains 201 bytes and open_shop 100; in the first two, fill_cache gains
# 4000.
status_is 0 "$lw" diff "$W/old" "$W/new"
shows '^  +4,903 bytes: 4,301 before, 9,204 after$'
equal "changes" "$(sed -n 's/^  \(grew .*\)/\1/p' "$W/out")" \
	"grew +4,000 bytes in +1 block, now 8,000 bytes in 2 blocks
grew +603 bytes in +3 blocks, now 804 bytes in 4 blocks
grew +300 bytes in +3 blocks, now 400 bytes in 4 blocks"
status_is 0 "$lw" diff "$W/new" "$W/old"
shows 'shrank -603 bytes in -3 blocks, now 201 bytes in 1 block$'
# A dump is compared with its copy, and a log with one of its own dumps.
cp "$W/old" "$W/copy"
status_is 0 "$lw" diff "$W/old" "$W/copy"
shows '^  +0 bytes: '
shows_not 'grew\|shrank\|appeared\|vanished'
cat "$W/old" "$W/new" >"$W/both"
pid=$(sed -n 's/^leakwrap\[\([0-9]*\)\..*/\1/p' "$W/new" | head -n 1)
status_is 0 "$lw" diff "$W/both@$pid:1" "$W/old"
shows 'shrank -603 bytes in -3 blocks, now 201 bytes in 1 block$'

status_is 2 "$lw" diff "$W/old"
said 'NEW is missing$'
status_is 2 "$lw" diff "$W/old" "$W/old" "$W/both"
said 'both: one argument too many$'
status_is 2 "$lw" diff "$W/both@1" "$W/old"
said 'both@1 has dumps of several processes ([0-9]*, [0-9]*): choose one as LOG@PID:N$'

# Folded stacks and JSON have both numbers.
status_is 0 "$lw" diff -f folded "$W/old" "$W/new"
shows 'main;open_shop;make_basket;keep_inlined 201 804$'
status_is 0 "$lw" diff -f json "$W/old" "$W/new"
shows '"change":"grew","old_bytes":201,"new_bytes":804,"old_blocks":1,"new_blocks":4'

# Two builds of one program have the same functions. Addresses and build-id differ, perhaps the
# name, too.
mkdir -p "$W/two"
more='static char more[99];\nint other(void);\nint other(void) { return more[3]; }'
sed "s/^int main/$more\\nint main/" \
	tests/tool/leaky.c >"$W/two/leaky.c"
build two/leaky "$W/two/leaky.c" -Wl,--build-id
cp "$W/two/leaky" "$W/two/leaky-1.1"
for name in leaky leaky-1.1; do
	LEAKWRAP_OPTIONS=log="$W/two/$name.log" "$W/two/$name" 4 || fail leaky
	status_is 0 "$lw" diff -f json "$W/old" "$W/two/$name.log"
	shows '"change":"grew","old_bytes":201,"new_bytes":804'
	shows_not '"change":"appeared"'
done

# A call site is only in one of the dumps.
echo "50 1 complete 0x10" | make_dump 3.1 2026-11-20T18:00:00Z /x/y 0x1000 none >"$W/one"
echo "70 1 complete 0x20" | make_dump 3.2 2026-11-20T18:00:01Z /x/y 0x1000 none >>"$W/one"
status_is 0 "$lw" diff "$W/one@1" "$W/one@2"
shows 'appeared +70 bytes'
shows 'vanished -50 bytes'
shows '0 call sites did not change'

# As many bytes in more blocks are a change, too.
echo "50 2 complete 0x10" | make_dump 3.2 2026-11-20T18:00:01Z /x/y 0x1000 none >"$W/blocks"
status_is 0 "$lw" diff "$W/one@1" "$W/blocks"
shows '^  grew +0 bytes in +1 block, now 50 bytes in 2 blocks$'
status_is 0 "$lw" diff "$W/blocks" "$W/one@1"
shows '^  shrank +0 bytes in -1 block, now 50 bytes in 1 block$'

# hides ALL: makes a dump hide what it does not show of ALL live bytes.
hides() {
	sed "s/ live_bytes=[0-9]* live_blocks=[0-9]* / live_bytes=$1 live_blocks=9 /"
}
# A dump may have at a call site that it does not show what the other has there, or surely not.
printf '%s\n' "50000 1 complete 0x10" "45000 1 complete 0x20" |
	make_dump 4.1 2026-11-20T18:00:00Z /x/y 0x1000 none | hides 135000 >"$W/part"
printf '%s\n' "90000 1 complete 0x40" "50000 1 complete 0x10" "40000 1 complete 0x30" |
	make_dump 4.2 2026-11-20T18:00:01Z /x/y 0x1000 none >>"$W/part"
status_is 0 "$lw" diff "$W/part@1" "$W/part@2"
shows '^  +45,000 bytes: 135,000 before, 180,000 after$'
shows '^  grew at least +50,000 bytes, now 90,000 bytes in 1 block$'
shows '^  vanished -45,000 bytes'
shows_not 'appeared\|40,000'
shows '^  1 call site did not change$'
shows '^  1 call site is not compared: a dump leaves out call sites (top=, min_bytes=), or is'
status_is 0 "$lw" diff "$W/part@2" "$W/part@1"
shows '^  shrank at least -50,000 bytes, now at most 40,000 bytes in 1 block$'
shows '^  appeared +45,000 bytes'
status_is 0 "$lw" diff -f json "$W/part@1" "$W/part@2"
shows '"unchanged_call_sites":1,"uncompared_call_sites":1,'
shows '"old_bytes":40000,"new_bytes":90000,.*"is_least":true'
status_is 0 "$lw" diff -f folded "$W/part@1" "$W/part@2"
equal "folded" "$(sort "$W/out")" "y+0x20 45000 0
y+0x40 40000 90000"
# How much of that was lost is not known.
sed -e 's/\] loss .*/] kinds definite_bytes=0 definite_blocks=0/' \
	-e '/: 90000 bytes/s|$| definite=90000/1|' "$W/part" >"$W/lost"
status_is 0 "$lw" diff "$W/lost@1" "$W/lost@2"
shows '^  grew at least +50,000 bytes'
shows_not '^      +.* lost'
# The largest call sites need not be those that have lost most.
sed -e 's/\] loss .*/] kinds definite_bytes=40010 definite_blocks=3/' \
	-e '/: 45000 bytes/s|$| definite=10/1|; /: 90000 bytes/s|$| definite=30000/1|' \
	"$W/part" >"$W/lost"
status_is 0 "$lw" diff --show-leak-kinds=definite "$W/lost@1" "$W/lost@2"
shows '^  2 call sites are not compared: '
shows_not 'grew'
# It may have that at each of several call sites, which another build makes one by their functions.
# of_build BUILD_ID <SITES: prints a dump. The first digit of an offset names the function.
of_build() {
	make_dump 4.1 2026-11-20T18:00:00Z /x/y 0x1000 "$1" |
		sed 's/ ? \[1\] y+0x\(.\)/ f\1+0x0 [1] y+0x\1/'
}
printf '%s\n' "1000 1 complete 0x10" "100 1 complete 0x20" | of_build 0a | hides 1300 >"$W/top"
printf '%s\n' "1000 1 complete 0x10" "100 1 complete 0x20" "100 1 complete 0x21" \
	"100 1 complete 0x22" | of_build 0b >"$W/all"
for logs in "$W/top $W/all" "$W/all $W/top"; do
	# shellcheck disable=SC2086 # words
	status_is 0 "$lw" diff $logs
	shows '^  1 call site did not change$'
	shows '^  1 call site is not compared: '
	shows_not 'grew\|shrank'
done
# Of a damaged dump nothing is known but what it shows.
grep -v '^leakwrap.4.1. end' "$W/part" >"$W/torn"
status_is 0 "$lw" diff "$W/torn@1" "$W/torn@2"
shows '^  2 call sites are not compared: '
shows_not 'grew\|appeared'
# Nor is the call site of its last stack known, if frames of it may be lost.
printf '%s\n' "50000 1 complete 0x10" "40000 1 complete 0x20 0x30" |
	make_dump 4.1 2026-11-20T18:00:00Z /x/y 0x1000 none >"$W/whole"
for lines in 2 3 4; do
	sed 's/4\.1/4.2/' "$W/whole" | head -n -$lines | cat "$W/whole" - >"$W/torn"
	status_is 0 "$lw" diff "$W/torn@1" "$W/torn@2"
	shows '^  1 call site did not change$'
	shows '^  1 call site is not compared: '
	shows_not 'appeared\|vanished'
	status_is 0 "$lw" diff "$W/torn@2" "$W/torn@1"
	shows '^  1 call site is not compared: '
	shows_not 'appeared\|vanished'
done
# Code that was generated at run time lies elsewhere in another process.
for pid in 4 5; do
	echo "50 1 complete 0x10 0x${pid}0" | make_dump $pid.1 2026-11-20T18:00:00Z /x/y 0x1000 0a |
		sed 's/\(#1 0x[0-9a-f]*\) ? .*/\1 ?/' >"$W/generated.$pid"
done
status_is 0 "$lw" diff "$W/generated.4" "$W/generated.5"
shows '^  1 call site did not change$'

# -- growth ----------------------------------------------------------------------------------------
LEAKWRAP_OPTIONS=log="$W/series" "$W/leaky" 9 each || fail leaky
status_is 0 "$lw" report --growth "$W/series"
steadily='s/^  \(grows steadily by [0-9,]* bytes\|grew, not steadily\).*/\1/p'
equal "ranking" "$(sed -n "$steadily" "$W/out")" \
	"grows steadily by 1,608 bytes
grows steadily by 800 bytes
grew, not steadily"
status_is 0 "$lw" report --growth -f folded "$W/series"
equal "growth, folded" "$(sed 's/.*;\([a-z_]* [0-9]*\)$/\1/' "$W/out" | tr '\n' ' ')" \
	"keep_inlined 1608 open_shop 800 "
status_is 0 "$lw" report --growth -f json "$W/series"
shows '"steady_bytes":1608,'
status_is 2 "$lw" report --growth "$W/old"
said 'at least two dumps'
