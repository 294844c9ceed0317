#!/bin/sh
# The parts of a rotated log are read from the oldest to the newest, however they are named.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need prlimit

# part FILE NUMBER...: writes dumps of process 3 with these numbers into $W/FILE.
part() {
	file=$1
	shift
	for number; do
		echo "${number}00 1 complete 0x10" |
			make_dump "3.$number" "2026-11-20T18:0$number:00Z" /x/y 0x1000 none
	done >"$W/$file"
}
# is_one WHAT LOG...: the logs are one series of six dumps of one process.
is_one() {
	what=$1
	shift
	status_is 0 "$lw" report --growth "$@"
	equal "$what: growth" "$(grep 'grows steadily' "$W/out" | sed 's/.*: //')" \
		"100 to 600 bytes in 1 block"
	status_is 0 "$lw" report "$@"
	equal "$what: dumps" "$(grep -o 'process 3, dump [0-9]*' "$W/out")" "process 3, dump 6"
	status_is 0 "$lw" report --merge "$@"
	shows '600 bytes live in 1 block'
}

mkdir "$W/numbers" "$W/dates" "$W/dumps"
part numbers/x.log.2 1 2
part numbers/x.log.1 3 4
part numbers/x.log 5 6
gzip "$W/numbers/x.log.2"
is_one "numbers, by a pattern" "$W"/numbers/x.log*
is_one "numbers, the oldest first" "$W/numbers/x.log.2.gz" "$W/numbers/x.log.1" \
	"$W/numbers/x.log"
echo "700 1 complete 0x10" |
	make_dump 9.1 2026-11-20T18:00:00Z /x/y 0x1000 none >"$W/numbers/other.log"
status_is 0 "$lw" report "$W/numbers/x.log" "$W/numbers/other.log" "$W"/numbers/x.log.*
equal "another log between the parts" "$(grep -o 'process [0-9], dump [0-9]*' "$W/out")" \
	"process 9, dump 1
process 3, dump 6"

part dates/x.log-20261119 1 2
part dates/x.log-20261120 3 4
part dates/x.log 5 6
is_one "dates, by a pattern" "$W"/dates/x.log*

# The option dateformat= of logrotate: in the name of the log, a date may follow other numbers.
for dates in 2026-11-19:2026-11-20 2026-11-20-18:2026-11-20-19 2026.11.19:2026.11.20 \
	20261120-180000:20261120-190000 20261119_1795000000:20261120_1795090000 \
	202611191795000000:202611201795090000; do
	folder=dates-$dates
	mkdir "$W/$folder"
	part "$folder/x-1.log-${dates%:*}" 1 2
	part "$folder/x-1.log-${dates#*:}" 3 4
	part "$folder/x-1.log" 5 6
	is_one "dates like $dates" "$W/$folder"/x-1.log*
done

# The option extension= of logrotate.  Without the log itself the number may belong to the name.
mkdir "$W/extended" "$W/named"
part extended/x.2.log 1 2
part extended/x.1.log 3 4
part extended/x.log 5 6
gzip "$W/extended/x.2.log"
is_one "an extension" "$W"/extended/x.*
rm "$W/extended"/*
part extended/x-20261119.log 1 2
part extended/x-20261120.log 3 4
part extended/x.log 5 6
is_one "an extension, dates" "$W"/extended/x*
part named/x.1.log.2 1 2
part named/x.1.log.1 3 4
part named/x.1.log 5 6
is_one "a name with a number" "$W"/named/x.*

# Right after a log was rotated, the log itself is not there.
mkdir "$W/no-log"
part no-log/x.log.3 1 2
part no-log/x.log.2 3 4
part no-log/x.log.1 5 6
gzip "$W/no-log/x.log.3"
is_one "no log itself" "$W"/no-log/x.log*

# logrotate's create makes an empty log: the dumps are in the other parts, whose verdict counts. It
# compresses empty parts, too.
echo nothing >"$W/no-log/x.log.4"
gzip "$W/no-log/x.log.4"
: >"$W/no-log/x.log"
is_one "an empty log" "$W"/no-log/x.log*
said 'x.log holds no dump'
said 'x.log.4.gz holds no dump'
status_is 1 "$lw" report --fail-on-leaks "$W"/no-log/x.log*
# Other logs without dumps are an error, also if other logs have dumps: nothing judges them.
: >"$W/other.log"
for merge in '' --merge; do
	# shellcheck disable=SC2086 # no word or one
	status_is 2 "$lw" report $merge "$W/no-log/x.log" "$W/no-log/x.log.4.gz"
	for other in "$W/other.log" "$W/none"; do
		# shellcheck disable=SC2086 # no word or one
		status_is 2 "$lw" report $merge "$W"/no-log/x.log* "$other"
	done
done

# Without the log itself, a number may also be that of a process, of a run, or of a dump.
for pid in 4 5; do
	for number in 2 3; do
		echo "${pid}00 1 complete 0x10" |
			make_dump $pid.$number 2026-11-20T18:00:00Z /x/y 0x1000 none
	done >"$W/process.$pid"
	sed "s/^leakwrap.$pid.2/leakwrap[$pid.1/" "$W/process.$pid" >"$W/run.$((pid - 3))"
done
for logs in process run; do
	status_is 0 "$lw" report "$W"/$logs.*
	equal "$logs" "$(grep -o 'process [0-9], dump' "$W/out" | tr '\n' ' ')" \
		"process 4, dump process 5, dump "
done
for number in 1 2 3 4 5 6; do
	part dumps/x.$number $number
done
is_one "log=x.%n" "$W"/dumps/x.*
# The log of a process is no part that may be empty.
echo "no dump" >"$W/dumps/x.7"
status_is 2 "$lw" report "$W"/dumps/x.*
said 'x.7 holds no dump$'

# The runtime's own.
cat >"$W/grow.c" <<'END'
#include <signal.h>
#include <stdlib.h>
void *volatile kept;
int main(void)
{
	for (int i = 0; i < 8; i++) {
		kept = malloc(100);
		raise(SIGUSR1);
	}
	return kept == NULL;
}
END
build grow "$W/grow.c"
LEAKWRAP_OPTIONS=exit=0:log=$W/own.log:log_max=5K "$W/grow" || fail "status $?"
[ -e "$W/own.log.1" ] || fail "no own.log.1: $(ls -l "$W")"
status_is 0 "$lw" report "$W"/own.log*
equal "log_max" "$(grep -o ', dump [0-9]*' "$W/out")" ", dump 8"

# Time is nearly linear in the number of names. The limit is in seconds of processor time: a
# comparison of all names with each other takes a minute.
# shellcheck disable=SC2046 # words
status_is 2 prlimit --cpu=20 "$lw" report $(seq -f '/none/%.0f.1.x' 70000)
equal "messages" "$(grep -c '/none/.*: No such file' "$W/err")" 70000
