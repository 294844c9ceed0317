#!/bin/sh
# What a log costs in memory depends on its size, not on the number of processes or modules in it;
# dumps of thousands of processes may be mixed.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need prlimit

# 7.7 MB of lines, each of another process.
awk 'BEGIN { for (pid = 1; pid <= 300000; pid++) printf "leakwrap[%d.1] note x\n", pid }' >"$W/log"
head="dump version=1 reason=exit time=2026-11-20T18:36:01Z program=/a"
seq 60000 | sed "s|.*|leakwrap[&.1] $head|" >"$W/heads"
limited() {
	prlimit --as=200000000 "$lw" "$@"
}
status_is 2 limited report "$W/log"
said 'log holds no dump that can be read'
equal "messages" "$(grep -c 'is damaged: its first line is missing' "$W/err")" 300000
status_is 0 limited report "$W/heads"
shows 'the last dumps of 60,000 processes'
status_is 0 limited list "$W/log"

# The lines of 3,000 dumps, one of each in turn.
echo "300 3 complete 0x10 0x20" |
	make_dump 7.1 2026-11-20T18:36:01Z /no/such/program 0x10000 none >"$W/plain"
while read -r line; do
	seq -f "%.0f" 3000 | sed "s|.*|leakwrap[&.1] ${line#*\] }|"
done <"$W/plain" >"$W/log"
status_is 0 limited report "$W/log"
shows '900,000 bytes .*live in 9,000 blocks at 1 call site'
! grep damaged "$W/err" || fail "mixed dumps are damaged"

# A dump without an end is given up after thousands of others, and has what it has.
{
	sed '$d' "$W/plain"
	cat "$W/heads"
	tail -n 1 "$W/plain"
} >"$W/log"
status_is 0 "$lw" list "$W/log"
equal "given up" "$(grep ' 7 *1 .*/no/such/program' "$W/out" | tr -s ' ' | cut -d ' ' -f 2-8)" \
	"7 1 signal 2026-11-20 18:36:01 300 3"
shows '^ *7 *1 .* torn .*: it has no end: too many other dumps start$'

# Frames of modules whose lines are lost.
{
	echo "leakwrap[7.1] $head"
	echo "leakwrap[7.1] site 1: 5 bytes in 1 block, complete"
	awk 'BEGIN { for (i = 0; i < 8000; i++)
		printf "leakwrap[7.1]   #%d 0x%x ? [%d] m%d+0x10\n", i, 4096 * (i + 2), i + 1, i }'
} >"$W/log"
status_is 0 limited report "$W/log"
shows 'm7999+0x10'

# Time is linear in the number of processes. The limit is in seconds of processor time: a comparison
# of all processes with each other takes a minute or more.
quick() {
	expected=$1
	shift
	status_is "$expected" prlimit --cpu=20 "$lw" "$@"
}
# dumps_of LINE...: dumps of many processes, each with these lines before its end.
dumps_of() {
	printf '%s\n' "$head" "total live_bytes=1 live_blocks=1 call_sites=1" \
		"site 1: 1 bytes in 1 block, complete" "  #0 0x1010 ? [1] a+0x10" "$@" \
		"end sites=1 lines=$(($# + 5)) dump_ns=1" >"$W/lines"
	awk '{ line[NR] = $0 }
		END { for (pid = 1; pid <= 150000; pid++)
			for (i = 1; i <= NR; i++)
				print "leakwrap[" pid ".1] " line[i] }' "$W/lines"
}
dumps_of "module 1 0x1000-0x2000 bias=0x1000 build_id=none path=/a" >"$W/log"
quick 2 diff "$W/log" "$W/log"
said 'several processes (1, 2, 3 and 149997 more, see leakwrap list): choose one'
{
	cat "$W/log"
	echo "leakwrap[7.2] $head"
	echo "leakwrap[7.2] total live_bytes=2 live_blocks=1 call_sites=1"
	echo "leakwrap[7.2] kinds definite_bytes=2 definite_blocks=1 indirect_bytes=0" \
		"indirect_blocks=0 possible_bytes=0 possible_blocks=0 reachable_bytes=0" \
		"reachable_blocks=0"
	echo "leakwrap[7.2] site 1: 2 bytes in 1 block, complete definite=2/1"
	echo "leakwrap[7.2]   #0 0x1010 ? [1] a+0x10"
	echo "leakwrap[7.2] module 1 0x1000-0x2000 bias=0x1000 build_id=none path=/a"
	echo "leakwrap[7.2] end sites=1 lines=7 dump_ns=1"
} >"$W/kinds"
quick 0 report --show-leak-kinds=definite "$W/kinds"
said '150000 dumps are left out that do not tell lost from reachable memory'
shows '2 bytes.* in 1 block'

# Frames of a module whose line is lost in all processes.
dumps_of >"$W/log"
quick 0 report "$W/log"
shows '150,000 bytes .*live in 150,000 blocks at 1 call site'
