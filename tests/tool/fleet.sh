#!/bin/sh
# Thousands of logs become one report: call sites of all processes and hosts, their spread and their
# growth. Memory does not grow with the number of logs, and logs may be compressed.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need prlimit gzip zstd

# one_dump PID.N MINUTE BIAS LEAK CACHE: a dump of a leak at 0x100 and a cache at 0x200.
one_dump() {
	printf '%s 1 complete 0x100 0x10\n%s 1 complete 0x200 0x10\n' "$4" "$5" |
		make_dump "$1" "2026-11-20T18:$2:00Z" /no/such/server "$3" 0a1b
}
# The leak grows steadily, faster on the host blue. The cache is full after the second dump.
mkdir -p "$W/logs/red" "$W/logs/blue" || exit 2
for pid in 1 2 3; do
	[ $pid = 3 ] && host=blue || host=red
	for number in 1 2 3; do
		one_dump $pid.$number 1$number 0x${pid}0000 $((pid * 100 * number)) \
			$((number > 1 ? 9000 : 10))
	done >"$W/logs/$host/$pid.log"
done
status_is 0 "$lw" report --merge --hosts='*/logs/%h/*' "$W"/logs/*/*.log
shows '^/no/such/server, the last dumps of 3 processes on 2 hosts, 2026-11-20 18:13:00 to 18:13:00'
shows '28,800 bytes (28.1 KiB) live in 6 blocks at 2 call sites'
shows '#1 27,000 bytes in 3 blocks, 93.8 %, in 3 of 3 processes on 2 of 2 hosts'
shows '#2 1,800 bytes in 3 blocks'
shows "from 300 bytes to 900 bytes each, 600 bytes on average; most in process 3 of .*/blue/3.log"
status_is 0 "$lw" report --merge --growth "$W"/logs/*/*.log
shows '#1 1,800 bytes in 3 blocks'
shows 'grew steadily by 1,200 bytes, by 1,200 bytes in all, in 3 of 3 processes'
shows 'grew by bursts, by 26,970 bytes in all'
for format in folded pprof html; do
	status_is 0 "$lw" report --merge -f $format -o "$W/$format" "$W"/logs/*/*.log
done
equal "folded" "$(awk '{ n += $NF } END { print n }' "$W/folded")" 28800
status_is 0 "$lw" report --merge --growth -f folded "$W"/logs/*/*.log
equal "folded growth" "$(sed 's/.*;//' "$W/out")" "server+0x100 1200"
status_is 2 "$lw" report --merge --growth --by=function "$W"/logs/*/*.log
said '^leakwrap: --by is not for --merge --growth'
status_is 0 "$lw" report --merge --hosts='/nowhere/%h/*' "$W"/logs/*/*.log
said '^leakwrap: --hosts=/nowhere/%h/\*: no log has such a path$'
cp "$W/logs/red/1.log" "$W/1-red.server"
cp "$W/logs/blue/3.log" "$W/2-blue.server"
cp "$W/logs/red/2.log" "$W/3-red.server"
status_is 0 "$lw" report --merge --hosts='*-%h.server' "$W"/*.server
shows ', the last dumps of 3 processes on 2 hosts, '
shows '#1 27,000 bytes .*, in 3 of 3 processes on 2 of 2 hosts'
status_is 2 "$lw" report --hosts=logs "$W/logs/red/1.log"
said '%h must stand for the host'
status_is 2 "$lw" report --merge --growth --fail-on-leaks "$W/logs/red/1.log"

# A log that comes twice counts once. A process may have a log for each dump. In containers, many
# processes have the number 1.
status_is 0 "$lw" report --merge "$W/logs/red/1.log" "$W/logs/red/1.log"
said '1 dump came twice'
shows 'the last dumps of 1 process,'
for number in 1 2 9 10; do
	one_dump 7.$number 1$((number % 10)) 0x70000 $((100 * number)) 5 >"$W/each.$number"
done
sed -i 's/18:10:00/18:50:00/' "$W/each.10"
status_is 0 "$lw" report --merge "$W"/each.*
shows 'the last dumps of 1 process,'
shows '^  1,005 bytes live'
for container in a b c; do
	minute=1$(printf %d "0x$container" | tail -c 1)
	one_dump 1.1 "$minute" 0x70000 10 5 >"$W/container.$container"
done
status_is 0 "$lw" report --merge "$W"/container.*
shows 'the last dumps of 3 processes,'
shows '^  45 bytes live'
status_is 0 "$lw" report -f html "$W"/container.*
shows '"merged":3,'
status_is 0 "$lw" report --each -f html "$W"/container.*
shows_not '"merged":[0-9]'
# What was suppressed is added up, too.
echo 'leak:/no/such/server' >"$W/suppressions"
status_is 0 "$lw" report --suppressions="$W/suppressions" "$W"/container.* "$W"/logs/*/*.log
shows 'the last dumps of 6 processes,'
shows '^  of these suppressed: 28,845 bytes in 12 blocks$'

sed 's/dump_ns=[0-9]*/dump_ns=7/' "$W/container.a" >"$W/container.other"
status_is 0 "$lw" report --merge "$W/container.a" "$W/container.other"
shows 'the last dumps of 2 processes,'
status_is 0 "$lw" report -f folded "$W/container.a" "$W/container.other"
equal "bytes of both" "$(awk '{ n += $NF } END { print n }' "$W/out")" 30

# A clock that goes back makes no second process, in one log or in several. Growth counts dumps
# then: a cache that is full after the second of three dumps has not grown steadily. So it is where
# all dumps have the same time.
for number in 1 2 3; do
	one_dump 8.$number 1$((4 - number)) 0x80000 $((100 * number)) $((number > 1 ? 9000 : 10)) \
		>"$W/back.$number"
	one_dump 8.$number 15 0x80000 $((100 * number)) $((number > 1 ? 9000 : 10)) \
		>"$W/same.$number"
done
cat "$W"/back.* >"$W/back"
for logs in "$W/back" "$W/back.1 $W/back.2 $W/back.3" "$W/same.1 $W/same.2 $W/same.3"; do
	# shellcheck disable=SC2086 # words
	status_is 0 "$lw" report --merge --growth $logs
	shows 'the last dumps of 1 process,'
	shows '^  9,300 bytes '
	shows 'grew steadily by 200 bytes,'
	shows 'grew by bursts, by 8,990 bytes in all'
done
# With uptimes a clock that goes back shows nothing, also where a dump is missing or out of order.
one_dump 8.1 20 0x80000 100 10 | sed 's/ time=[^ ]*/& uptime=100/' >"$W/up.1"
one_dump 8.3 10 0x80000 300 10 | sed 's/ time=[^ ]*/& uptime=200/' >"$W/up.3"
cat "$W/up.3" "$W/up.1" >"$W/mixed"
status_is 0 "$lw" report --merge "$W/up.1" "$W/up.3"
shows 'the last dumps of 1 process,'
shows '^  310 bytes '
status_is 0 "$lw" report --last "$W/mixed"
shows '^  310 bytes '
shows_not '^  110 bytes '
# Another process of the same number is another one: its program lies elsewhere.
one_dump 8.4 20 0x90000 7 5 >"$W/later"
status_is 0 "$lw" report --merge "$W/back" "$W/later"
shows 'the last dumps of 2 processes,'

# A dump that lost its modules has them from the dumps of its process, also where another build has
# its call sites at the same offsets.
# of_build PID BUILD_ID: three dumps of two call sites that keep their bytes
of_build() {
	for number in 1 2 3; do
		printf '500 1 complete 0x100 0x10\n70 1 complete 0x200 0x10\n' |
			make_dump "$1.$number" "2026-11-20T18:1$number:00Z" /no/such/server \
				"0x$1"0000 "$2"
	done
}
of_build 11 0a >"$W/build.1"
of_build 12 0b >"$W/build.2"
of_build 13 0b | head -n -2 >"$W/build.3"
status_is 0 "$lw" report --merge --growth "$W"/build.*
shows_not ' grew'
status_is 0 "$lw" report --merge "$W"/build.*
shows '#1 1,000 bytes in 2 blocks, .*, in 2 of 3 processes'
shows '#2 500 bytes in 1 block, .*, in 1 of 3 processes'
# Without such a dump, it counts where the names of modules and the offsets are equal.
of_build 14 0a | head -n 11 >"$W/alone"
for logs in "$W/alone $W/build.1" "$W/build.1 $W/alone"; do
	# shellcheck disable=SC2086 # words
	status_is 0 "$lw" report --merge $logs
	shows '#1 1,000 bytes in 2 blocks, .*, in 2 of 2 processes'
	shows '^  1,140 bytes .* at 2 call sites'
done

# Code that was generated at run time lies elsewhere in each process.
for pid in 1 2; do
	one_dump 1$pid.1 10 0x${pid}0000 100 1 |
		sed 's/\(#1 0x[0-9a-f]*\) ? .*/\1 ?/' >"$W/generated.$pid"
done
status_is 0 "$lw" report --merge "$W"/generated.*
shows '#1 200 bytes in 2 blocks, .*, in 2 of 2 processes'

# Dumps of older runtimes lack lines, those of newer ones have more. A format of another version is
# left out, and told.
one_dump 21.1 10 0x10000 100 1 | grep -v -e tracer_bytes -e 'stacks complete' >"$W/older"
sed -i "s/ lines=[0-9]*/ lines=$(wc -l <"$W/older")/" "$W/older"
one_dump 22.1 10 0x20000 100 1 |
	sed 's/\] total .*/& new_total=5/; s/\] site 1: .*/& color=blue/' >"$W/newer"
one_dump 23.1 10 0x30000 100 1 | sed 's/version=1/version=2/' >"$W/other"
status_is 0 "$lw" report --merge "$W/older" "$W/newer"
shows 'the last dumps of 2 processes,'
shows '^  202 bytes live'
shows_not damaged
status_is 2 "$lw" report --merge "$W/older" "$W/newer" "$W/other"
shows 'the last dumps of 2 processes,'
said 'other:1: dump 23.1 is damaged: its format version is not known to this tool'

# The share of bytes with complete stacks is that of all bytes, if each dump has it.
shows_not '^  stacks: '
one_dump 26.1 10 0x40000 300 3 | sed 's/percent=100.00/percent=0.00/' >"$W/truncated"
status_is 0 "$lw" report --merge "$W/truncated" "$W/newer"
shows '^  stacks: 25 % of the live bytes have complete stacks$'

# Only what dumps leave out of their live bytes is told as left out of the sum.
from_fork='inherited_blocks=1 inherited'
one_dump 24.1 10 0x10000 100 1 |
	sed "s/\] total .*/& inherited_bytes=7 $from_fork=left_out/" >"$W/left_out"
one_dump 25.1 10 0x20000 100 1 |
	sed "s/\] total .*/& inherited_bytes=50 $from_fork=included/" >"$W/included"
status_is 0 "$lw" report --merge "$W/left_out" "$W/included"
shows '^  left out from before the fork: 7 bytes in 1 block$'

# A sum in which a number is missing is not known.
grep -v '\] total ' "$W/newer" >"$W/torn"
for logs in "$W/older $W/torn" "$W/torn $W/older"; do
	# shellcheck disable=SC2086 # words
	status_is 0 "$lw" report --merge $logs
	shows '^  its totals are missing$'
	shows '#1 200 bytes in 2 blocks'
done

# Compressed logs, also in pieces; a piece of one is told.
gzip -k "$W/logs/red/1.log" "$W/each.1"
zstd -q "$W/logs/red/1.log" -o "$W/1.zst"
for log in "$W/logs/red/1.log.gz" "$W/1.zst"; do
	status_is 0 "$lw" list "$log"
	equal "dumps of ${log##*/}" "$(grep -c whole "$W/out")" 3
done
cat "$W/logs/red/1.log.gz" "$W/each.1.gz" >"$W/two.gz"
status_is 0 "$lw" list - <"$W/two.gz"
equal "dumps" "$(grep -c whole "$W/out")" 4
head -c 300 "$W/two.gz" >"$W/cut.gz"
status_is 2 "$lw" list "$W/cut.gz"
said 'cut.gz: its compressed data has no end'
head -c 100 "$W/1.zst" >"$W/cut.zst"
status_is 2 "$lw" list "$W/cut.zst"
said 'cut.zst: its compressed data has no end'
printf '(\265/\375garbage' >"$W/bad.zst"
status_is 2 "$lw" list "$W/bad.zst"
said 'bad.zst: its compressed data is damaged'

# A log in a coding that the tool does not read: it says what it is, and a command that reads it.
foreign() {
	status_is 2 "$lw" list "$W/$1"
	said "$1: it is $2; .* LOG | leakwrap report - reads it"
	convert=$(sed -n 's/.*; \(.*\) LOG | leakwrap.*/\1/p' "$W/err")
	# shellcheck disable=SC2086 # a command
	$convert "$W/$1" >"$W/converted" || fail "$convert"
	status_is 0 "$lw" list - <"$W/converted"
	equal "dumps of $1" "$(grep -c whole "$W/out")" 3
}
for packer in xz bzip2; do
	command -v $packer >"$W/which" || continue
	$packer -c "$W/logs/red/1.log" >"$W/1.$packer"
	foreign 1.$packer "compressed by $packer"
done
{ printf '\377\376' && iconv -t UTF-16LE "$W/logs/red/1.log"; } >"$W/little"
foreign little 'in UTF-16'
{ printf '\376\377' && iconv -t UTF-16BE "$W/logs/red/1.log"; } >"$W/big"
foreign big 'in UTF-16'
# Bytes of a program may only look like the beginning of such a file.
for start in 'BZh9\n' '\377\376\n' '\3757zX\n' ''; do
	# shellcheck disable=SC2059 # a format
	{ printf "$start" && cat "$W/logs/red/1.log"; } >"$W/plain"
	status_is 0 "$lw" list "$W/plain"
done

# 120 logs of 3,000 call sites each take little more memory than one.
awk 'BEGIN { for (i = 1; i <= 3000; i++) printf "%d 1 complete 0x%x 0x10\n", 3001 - i, 4096 + i }' |
	awk '{ print "site " NR ": " $1 " bytes in " $2 " blocks, complete"
		printf "  #0 0x%s ? [1] server+%s\n", substr($4, 3), $4 }' >"$W/sites"
{
	echo 'dump version=1 reason=signal time=2026-11-20T18:00:00Z program=/no/such/server'
	cat "$W/sites"
	echo 'module 1 0x0-0x100000 bias=0x0 build_id=0a1b path=/no/such/server'
	echo 'end sites=3000 lines=6003 dump_ns=1'
} >"$W/body"
for pid in $(seq 1 120); do
	sed "s/^/leakwrap[$pid.1] /" "$W/body" >"$W/many.$pid"
done
status_is 0 prlimit --data=20000000 "$lw" report --top=1 "$W"/many.*
shows 'the last dumps of 120 processes'
shows '#1 360,000 bytes in 120 blocks, in 120 of 120 processes'
