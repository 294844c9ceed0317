#!/bin/sh
# A series of dumps shows the whole gain of a steady leak, and no growth of a cache or a burst.
#
# The dumps come at equal intervals or not. Sums are by function, file, module and member. What a
# dump leaves out, or has lost, is not known, and is not 0.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

# series SECONDS:BYTES...: writes $W/series, with a dump for each argument, SECONDS after 18:00:00,
# of one call site that holds BYTES.
series() {
	number=0
	for dump; do
		number=$((number + 1)) second=${dump%:*}
		time=$(printf '2026-11-20T%02d:%02d:%02dZ' \
			$((18 + second / 3600)) $((second / 60 % 60)) $((second % 60)))
		echo "${dump#*:} 1 complete 0x10" | make_dump 3.$number "$time" /x/y 0x1000 none
	done >"$W/series"
}
# grows WANTED: the report of the series says WANTED, "BYTES AN-HOUR" or "not steadily".
grows() {
	status_is 0 "$lw" report --growth "$W/series"
	equal "$what" "$(sed -n 's/^  grows steadily by \([0-9,]* bytes, .*\) an hour: .*/\1/p
		s/^  grew, \(not steadily\): .*/\1/p' "$W/out")" "$1"
}

what="1,000 bytes a second, at equal intervals"
series 0:0 1:1000 2:2000 3:3000 4:4000 5:5000 6:6000 7:7000
grows "7,000 bytes, 3.43 MiB"
what="1,000 bytes a second, and the log has the dumps out of order"
for dump in 2 1 4 3 8 7 6 5; do
	grep "^leakwrap.3.$dump\]" "$W/series"
done >"$W/mixed"
mv "$W/mixed" "$W/series"
grows "7,000 bytes, 3.43 MiB"
what="1,000 bytes a second, over the end of February"
series 0:0 10:10000
sed -i 's/2026-11-20T18:00:00/2024-02-28T23:59:55/; s/2026-11-20T18:00:10/2024-02-29T00:00:05/' \
	"$W/series"
grows "10,000 bytes, 3.43 MiB"
sed -i 's/2024-02-28/2024-02-29/; s/2024-02-29T00/2024-03-01T00/' "$W/series"
grows "10,000 bytes, 3.43 MiB"
what="two dumps within a second, which give no rate"
series 0:0 0:1000
status_is 0 "$lw" report --growth "$W/series"
shows '^  grows steadily by 1,000 bytes: 0 to 1,000 bytes in 1 block$'
what="1,000 bytes a second, at unequal intervals"
series 0:0 1:1000 3:3000 7:7000 8:8000 30:30000 31:31000
grows "31,000 bytes, 3.43 MiB"
series 0:0 600:600000 601:601000 602:602000 603:603000 604:604000 605:605000
grows "605,000 bytes, 3.43 MiB"
what="a burst of dumps, then one"
series 0:0 1:1000 2:2000 3:3000 4:4000 5:5000 3600:3600000
grows "3,600,000 bytes, 3.43 MiB"
what="times that are cut to whole seconds"
series 0:0 0:900 1:1800 2:2700 3:3600 4:4500 5:5400 6:6300 7:7200
grows "7,200 bytes, 3.53 MiB"
what="a dump at the end, right after the last"
series 0:0 1:1000 2:2000 3:3000 4:4000 5:5000 6:6000 7:7000 7:7000
grows "7,000 bytes, 3.43 MiB"
what="a dump right before the last, and 3,000 bytes each 3 seconds"
series 0:0 25:25000 50:50000 99:99000 100:99000
grows "99,000 bytes, 3.40 MiB"
what="1,000 bytes each 20 seconds, a dump each 5 seconds"
series 0:0 5:0 10:0 15:0 20:1000 25:1000 30:1000 35:1000 40:2000 45:2000 50:2000 55:2000 60:3000 \
	65:3000 70:3000 75:3000 80:4000
grows "4,000 bytes, 176 KiB"
status_is 0 "$lw" report --merge --growth "$W/series"
shows '^      grew steadily by 4,000 bytes, by 4,000 bytes in all'
what="too fast for the clock, and an exit dump right after the last dump"
series 0:0 0:1000 1:2000 1:3000 2:4000 2:4000
sed -i '/\.6\] dump /s/ reason=signal/ reason=exit/' "$W/series"
grows "4,000 bytes, 6.87 MiB"
what="a burst at the beginning, then 100 bytes a minute"
series 0:0 60:50000 120:50100 180:50200 240:50300 300:50400 360:50500 420:50600 480:50700
grows "800 bytes, 5.86 KiB"
what="a cache that has filled up"
series 0:0 60:40000 120:60000 180:60000 240:60000 300:60000
grows "not steadily"
what="a cache that has filled up after half of the time, merged"
series 0:0 10:1000 50:5000 80:5000 100:5000
status_is 0 "$lw" report --merge --growth "$W/series"
shows '^      grew by bursts, by 5,000 bytes in all'
what="a burst"
series 0:0 60:0 120:0 180:90000 240:90000 300:90000 360:90000
grows "not steadily"
what="a burst within a few seconds"
series 0:0 0:0 0:9000 1:9000 1:9000 2:9000
grows "not steadily"

what="a burst, while the clock is set from 1970 to today"
series 1:0 61:0 121:0 181:90000 241:90000 301:90000 361:90000
sed -i 's/\(.*\.1\] .* time=\)[^ ]*/\11970-01-01T00:00:01Z/
	s/\(\.\([1-7]\)\] .* time=[^ ]*\)/\1 uptime=\20/' "$W/series"
grows "not steadily"
what="1,000 bytes a second, while the clock is set back"
series 8000:0 8001:1000 8002:2000 8003:3000 4:4000 5:5000 6:6000 7:7000
sed -i 's/\(\.\([1-8]\)\] .* time=[^ ]*\)/\1 uptime=\2/' "$W/series"
grows "7,000 bytes, 3.43 MiB"

# dump_of_part N ALL SITES: prints dump N, one minute after the one before, of ALL live bytes in 9
# blocks, that shows the SITES. A site is BYTES:OFFSET.
dump_of_part() {
	part=$1 all=$2
	shift 2
	for site; do
		echo "${site%:*} 1 complete ${site#*:}"
	done | make_dump 3."$part" 2026-11-20T18:0"$part":00Z /x/y 0x1000 none |
		sed "s/ live_bytes=[0-9]* live_blocks=[0-9]* / live_bytes=$all live_blocks=9 /"
}
uncompared='^  1 call site is not compared: a dump leaves out call sites (top=, min_bytes=), or is'
# The first dump hides 40,000 bytes, and the second has 40,000 at another call site.
{
	dump_of_part 1 135000 50000:0x10 45000:0x20
	dump_of_part 2 90000 50000:0x10 40000:0x30
} >"$W/part"
status_is 0 "$lw" report --growth "$W/part"
shows '^no call site grew$'
shows "$uncompared"
status_is 0 "$lw" report --growth -f json "$W/part"
shows '"damaged_dumps":0,"uncompared_call_sites":1,'
status_is 0 "$lw" report --growth --by=function "$W/part"
shows '^no function grew$'
shows "$uncompared"
# A call site without live blocks is not the smallest that the first dump shows.
{
	dump_of_part 1 135000 50000:0x10 45000:0x20 0:0x50 |
		sed 's/ 0 bytes in 1 .*/ 0 bytes in 0 blocks, complete allocated_bytes=7/'
	dump_of_part 2 90000 50000:0x10 40000:0x30
} >"$W/part"
status_is 0 "$lw" report --growth "$W/part"
shows '^no call site grew$'
# It cannot have had more than the smallest call site that it shows, nor than all that it hides.
{
	dump_of_part 1 195000 50000:0x10 45000:0x20
	dump_of_part 2 150000 50000:0x10 100000:0x30
} >"$W/part"
status_is 0 "$lw" report --growth "$W/part"
shows 'grows steadily by at least 55,000 bytes, .*: at most 45,000 to 100,000 bytes in 1 block$'
shows_not 'not compared'
status_is 0 "$lw" report --growth -f json "$W/part"
shows '"first_bytes":45000,"last_bytes":100000,"first_blocks":1,"last_blocks":1,"is_least":true'
status_is 0 "$lw" report --merge --growth "$W/part"
shows '^      grew steadily by 55,000 bytes, by 55,000 bytes in all, in 1 of 1 process$'
# How much of that was lost before is not known.
sed -e 's|] loss .*|] kinds definite_bytes=0 definite_blocks=0|
	/3\.2\] kinds/s|=.*|=100000 definite_blocks=1|' \
	-e 's|100000 bytes in 1 blocks, .*|& definite=100000/1|' "$W/part" >"$W/lost"
status_is 0 "$lw" report --growth "$W/lost"
shows '^  grows steadily by at least 55,000 bytes'
shows_not '^  loses'
# Several call sites may have one stack, as those of a library that was loaded again. A dump may
# hide each of them that another dump shows.
for second in '1300 1000:0x10 100:0x20 100:0x30 100:0x30' '1300 1000:0x10 100:0x20 100:0x20'; do
	{
		dump_of_part 1 1300 1000:0x10 100:0x20
		# shellcheck disable=SC2086 # words
		dump_of_part 2 $second
	} >"$W/part"
	status_is 0 "$lw" report --growth "$W/part"
	shows '^no call site grew$'
	shows "$uncompared"
	status_is 0 "$lw" report --merge --growth "$W/part"
	shows_not 'grew'
done
{
	dump_of_part 1 2100 1000:0x10 600:0x20
	dump_of_part 2 2900 1000:0x10 600:0x20 1300:0x20
} >"$W/part"
status_is 0 "$lw" report --growth "$W/part"
shows 'grows steadily by at least 800 bytes, .*: at most 1,100 to 1,900 bytes in 2 blocks$'
status_is 0 "$lw" report --merge --growth "$W/part"
shows '^      grew steadily by 800 bytes, by 800 bytes in all, in 1 of 1 process$'
# All together cannot have had more than the dump hides.
{
	dump_of_part 1 2500 1000:0x10 600:0x20
	dump_of_part 2 5300 1000:0x10 600:0x20 1300:0x20 2400:0x20
} >"$W/part"
status_is 0 "$lw" report --growth "$W/part"
shows 'grows steadily by at least 2,800 bytes, .*: at most 1,500 to 4,300 bytes in 3 blocks$'
# A leak is compared from the first dump on that shows it.
{
	dump_of_part 1 62000 50000:0x10
	dump_of_part 2 73000 50000:0x10
	dump_of_part 3 110000 60000:0x20 50000:0x10
	dump_of_part 4 120000 70000:0x20 50000:0x10
	dump_of_part 5 130000 80000:0x20 50000:0x10
} >"$W/part"
status_is 0 "$lw" report --growth "$W/part"
equal "a leak that dumps hide at first" "$(grep grows "$W/out")" "$(printf '  %s%s' \
	'grows steadily by 20,000 bytes, 586 KiB an hour: 60,000 to 80,000 bytes in 1 block' \
	' since dump 3')"
shows '^  compared with dump 1, '
shows_not 'not compared'
# In a sum a call site that begins late would look like growth.
status_is 0 "$lw" report --growth --by=module "$W/part"
shows '^no module grew$'
shows "$uncompared"
status_is 0 "$lw" report --merge --growth "$W/part"
shows '^      grew steadily by 20,000 bytes, by 20,000 bytes in all, in 1 of 1 process$'
shows 'growth counts from where a call site is shown: dumps of 1 process leave out call sites'

# A dump that lost its end may have had what it does not show.
for dump in 1 2 3; do
	dump_of_part $dump 90000 50000:0x10 $((38000 + 1000 * dump)):0x20
done >"$W/whole"
grep -v '^leakwrap.3.1. \(site 2\|end\|module\|  #0 0x1020\)' "$W/whole" >"$W/torn"
status_is 0 "$lw" report --growth "$W/torn"
shows 'grows steadily by 1,000 bytes, .*: 40,000 to 41,000 bytes in 1 block since dump 2$'
shows '^  damaged: line '
status_is 0 "$lw" report --growth -f json "$W/torn"
shows '"damaged_dumps":1,"uncompared_call_sites":0,'
status_is 0 "$lw" report --merge --growth "$W/torn"
shows '^      grew steadily by 1,000 bytes, by 1,000 bytes in all, in 1 of 1 process$'

# The end of the last dump is lost, perhaps within its last stack: nobody knows its call site.
for dump in 1 2 3; do
	dump_of_part $dump 90000 $((50000 + 1000 * dump)):0x10 30000:'0x20 0x30'
done >"$W/whole"
# LINES:BYTES are cut off: the end line is the last, and the module line stands before it.
for cut in 1:0 1:40 2:0 3:0 3:20 4:0; do
	head -n -${cut%:*} "$W/whole" | head -c -${cut#*:} >"$W/torn"
	status_is 0 "$lw" report --growth "$W/torn"
	shows 'grows steadily by 2,000 bytes, .*: 51,000 to 53,000 bytes in 1 block$'
	equal "cut by $cut: what grows" "$(grep -c 'gr[eo]w.* bytes' "$W/out")" 1
	case $cut in
	1:*) shows_not 'not compared' ;;
	*) shows '^  1 call site is not compared: ' ;;
	esac
	status_is 0 "$lw" report --merge --growth "$W/torn"
	equal "cut by $cut: what grows" "$(grep ' gr[eo]w.* bytes' "$W/out")" \
		"      grew steadily by 2,000 bytes, by 2,000 bytes in all, in 1 of 1 process"
done

# In a tree, one function grows by 100 bytes a minute and another by 40, at two call sites each.
for minute in 0 1 2 3 4; do
	fast=$((1000 + 50 * minute)) slow=$((1000 + 20 * minute))
	printf '%s\n' "$fast 1 complete 0x110 0x310" "$fast 1 complete 0x120 0x310" \
		"$slow 1 complete 0x210 0x320" "$slow 1 complete 0x220 0x320" \
		"5000 1 complete 0x410 0x320" |
		make_dump 3.$((minute + 1)) 2026-11-20T18:0$minute:00Z /x/y 0x1000 none |
		sed 's/ ? \[1\] y+0x1\(.*\)/ queue+0x\1 [1] y+0x1\1/
			s/ ? \[1\] y+0x2\(.*\)/ log+0x\1 [1] y+0x2\1/
			s/ ? \[1\] y+0x3\(.*\)/ main+0x\1 [1] y+0x3\1/
			s/ ? \[1\] y+0x4\(.*\)/ table+0x\1 [1] y+0x4\1/'
done >"$W/tree"
status_is 0 "$lw" report --growth --by=function "$W/tree"
equal "by function" "$(grep -A 1 grows "$W/out")" \
	"  grows steadily by 400 bytes, 5.86 KiB an hour: 2,000 to 2,400 bytes in 2 blocks
      queue
--
  grows steadily by 160 bytes, 2.34 KiB an hour: 2,000 to 2,160 bytes in 2 blocks
      log"
shows_not 'table\|main'
status_is 0 "$lw" report --growth --by=module "$W/tree"
shows 'grows steadily by 560 bytes, 8.20 KiB an hour: 9,000 to 9,560 bytes in 5 blocks$'
shows '^      /x/y$'
status_is 0 "$lw" report --growth --by=function -f json "$W/tree"
shows '"by":"function","rows":\[$'
shows '"steady_bytes":400,.*"name":"queue"'
status_is 0 "$lw" report --growth --by=function --top=1 "$W/tree"
shows queue
shows_not ' log$'

# What is lost steadily comes first, then what is lost by bursts, and then what grows.
for minute in 0 1 2 3; do
	burst=$((minute > 1))
	printf '%s\n' "$((20000 + 10000 * minute)) 9 complete 0x40" "5000 9 complete 0x10" \
		"3000 9 complete 0x30" "2000 9 complete 0x20" |
		make_dump 3.$((minute + 1)) 2026-11-20T18:0$minute:00Z /x/y 0x1000 none |
		sed "s|] loss .*|] kinds definite_bytes=0 definite_blocks=0|
			/site 2:/s|\$| definite=$((100 * minute))/$minute|
			/site 3:/s|\$| definite=$((50 * burst))/$burst|
			/site 4:/s|\$| definite=$((900 * burst))/$burst|"
done >"$W/losing"
status_is 0 "$lw" report --growth "$W/losing"
first='s/^  \(loses.*steadily\|has lost.*steadily\|grows steadily\).*/\1/p'
equal "what is lost" "$(sed -n "$first" "$W/out")" "loses 300 bytes steadily
has lost 900 bytes, not steadily
has lost 50 bytes, not steadily
grows steadily"
equal "what is lost without growth" "$(grep -c '^ *did not grow' "$W/out")" 3
status_is 0 "$lw" report --merge --growth "$W/losing"
equal "what is lost, merged" "$(sed -n 's/^      \(loses.*steadily\|grew steadily\).*/\1/p' \
	"$W/out")" "loses 300 bytes steadily
loses 900 bytes, not steadily
loses 50 bytes, not steadily
grew steadily"
# A process that loses less does not hide what another has lost.
for dump in 4 3 2 1; do
	grep "^leakwrap.3.$dump\]" "$W/losing" |
		sed "s/^leakwrap[^ ]*/leakwrap[4.$((5 - dump))]/
			s/T18:0.:/T18:0$((4 - dump)):/"
done >"$W/regaining"
status_is 0 "$lw" report --merge --growth "$W/losing" "$W/regaining"
shows '^      loses 300 bytes steadily$'
# It is not told where the dump between does not tell it.
sed '/3\.2\] /{ s/\] kinds .*/] loss/; s/ definite=.*//; }' "$W/losing" >"$W/untold"
status_is 0 "$lw" report --merge --growth "$W/untold"
shows '^      grew steadily by 30,000 bytes'
shows_not 'loses'

# A format that has no place for sums refuses them.
for format in folded pprof html; do
	status_is 2 "$lw" report --by=function -f $format -o "$W/report" "$W/tree"
	said "^leakwrap: --by is for text and json: $format has every call site of its own$"
	status_is 2 "$lw" report --growth --by=function -f $format -o "$W/report" "$W/tree"
	said "^leakwrap: --by is for text and json"
done
