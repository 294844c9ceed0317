#!/bin/sh
# The tool finds dumps among other text, and reports what is whole of a damaged dump.
#
# One message names the damaged line.
# shellcheck disable=SC2016
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

exe=/no/such/program
dump() {
	make_dump "$1" "2026-11-20T18:36:0${1#*.}Z" $exe 0x10000 none <<-END
		300 3 complete 0x1234 0x5678
		200 2 guessed 0x1244
		100 1 complete 0x1254 0x5678 0x9abc
	END
}
report() {
	status_is 0 "$lw" report "$@"
	grep -v 'was not found' "$W/err" >"$W/said"
	mv "$W/said" "$W/err"
}
quiet() {
	[ ! -s "$W/err" ] || fail "$1: $(cat "$W/err")"
}
messages() {
	equal "$1: messages" "$(wc -l <"$W/err")" "$2"
}

dump 7.1 >"$W/plain"
report "$W/plain"
quiet plain
sed 's/plain/LOG/' "$W/out" >"$W/wanted"
same() {
	cmp -s "$W/out" "$W/wanted" || fail "$1: $(diff "$W/wanted" "$W/out")"
	quiet "$1"
}

# A larger number of call sites than there can be shows all of them.
report --top=4294967297 "$W/plain"
same "--top=4294967297"

report --all --top=1 "$W/plain"
equal "--all --top=1" "$(grep -c '^  #' "$W/out")" 1

# Control characters of a name do not reach the terminal.
sed "s|$exe|&\\\\x1b[31m|" "$W/plain" >"$W/log"
report "$W/log"
shows 'module /no/such/program?\[31m: left raw'

# Nor do characters of a name that mean something in a format.
named_dump 'f[u8;3]<\/script>' main >"$W/log"
report -f folded "$W/log"
equal "a semicolon" "$(cat "$W/out")" 'main;f[u8:3]</script> 100'
report -f html "$W/log"
shows '"f\[u8;3\]\\u003c/script>"'

# -- text around the dump --------------------------------------------------------------------------
sed 's/$/\r/' "$W/plain" >"$W/log"
report "$W/log"
same "CR LF"
sed 's/^/Nov 20 18:36:07 host app[99]: /; s/$/\r\r/' "$W/plain" >"$W/log"
report "$W/log"
same "a system log"
escape=$(printf '\033')
sed "s/^/${escape}[36mapp |${escape}[0m /; s/\$/${escape}[0m/" "$W/plain" >"$W/log"
report "$W/log"
same "colours"
sed 's/.*/some leakwrap[ noise leakwrap[7] and leakwrap[x.y] z\n&\n/' "$W/plain" >"$W/log"
report "$W/log"
same "other lines"
awk '{ print; print }' "$W/plain" >"$W/log"
report "$W/log"
same "every line twice"
# So are notes, of which a dump may have two that are equal.
for notes in 1 2; do
	{
		head -n 5 "$W/plain"
		yes 'leakwrap[7.1] note full' | head -n $notes
		tail -n +6 "$W/plain" | sed "s/lines=[0-9]*/lines=$((16 + notes))/"
	} >"$W/noted"
	awk '{ print; print }' "$W/noted" >"$W/log"
	for log in noted log; do
		status_is 0 "$lw" list "$W/$log"
		shows ' whole '
		report "$W/$log"
		equal "notes of $log" "$(grep -c 'note: full' "$W/out")" $notes
	done
done
# A note may look like a line of another dump.
sed 's/note full/note of leakwrap[9.1] dump/' "$W/noted" >"$W/log"
report "$W/log"
equal "such notes" "$(grep -c 'note: of leakwrap.9.1. dump$' "$W/out")" 2
quiet "such notes"
{
	head -c 300000 /dev/zero | tr '\0' x
	cat "$W/plain"
	head -c 1000 /dev/zero
} >"$W/log"
report "$W/log"
same "a line that never ends, and zeros"
for length in 262124 524268; do
	{
		head -c $length /dev/zero | tr '\0' x
		cat "$W/plain"
	} >"$W/log"
	report "$W/log"
	same "a line that never ends, up to a prefix"
done
report - <"$W/plain"
same "standard input"
printf '%s' "$(cat "$W/plain")" >"$W/log"
report "$W/log"
same "no line end at the end"

# -- several dumps ---------------------------------------------------------------------------------
dump 8.1 >"$W/other"
paste -d '\n' "$W/plain" "$W/other" >"$W/log"
report "$W/log"
equal "two processes" "$(grep -c 'process [78], dump 1' "$W/out")" 2
equal "two processes" "$(grep -c '600 bytes live in 6 blocks at 3 call sites' "$W/out")" 2
quiet "two processes"
dump 7.2 >"$W/second"
cat "$W/plain" "$W/second" "$W/other" >"$W/log"
report "$W/log@2"
equal "one dump" "$(grep -c ' dump [0-9]' "$W/out")" 1
shows 'process 7, dump 2'
report "$W/log@8:1"
shows 'process 8, dump 1'
shows_not 'process 7'
report --last "$W/log"
numbers='s/.*process \([0-9]*\), dump \([0-9]*\).*/\1.\2/'
equal "last dumps" "$(grep ' dump [0-9]' "$W/out" | sed "$numbers" | tr '\n' ' ')" "7.2 8.1 "
report "$W/plain" "$W/plain"
messages "a dump twice" 1
said 'came twice'
equal "a dump twice" "$(grep -c 'process 7' "$W/out")" 1

# In containers every process has the same PID. A process after a restart is another process.
sed 's/18:36:01/19:00:00/' "$W/plain" | cat "$W/plain" - >"$W/log"
report -f folded "$W/log"
equal "a restart" "$(awk '{ n += $NF } END { print n }' "$W/out")" 1200

# A log may begin with any dump, where the earlier ones were rotated away. So the numbers of another
# container may go on. It is another process if its program or the C library lies elsewhere, if its
# command line is another, or if its machine runs for less time.
# container NUMBER BYTES PROGRAM-BIAS LIBRARY-BIAS UPTIME [COMMAND]
container() {
	{
		echo "dump version=1 reason=exit time=2026-11-20T18:36:0$1Z uptime=$5 program=/app"
		[ -z "$6" ] || echo "command $6"
		echo "total live_bytes=$2 live_blocks=1 call_sites=1"
		echo "site 1: $2 bytes in 1 block, complete"
		echo "  #0 $(add "$3" 0x10) ? [1] app+0x10"
		echo "  #1 $(add "$4" 0x20) ? [2] libc.so+0x20"
		echo "module 1 $3-$(add "$3" 0x1000) bias=$3 build_id=none path=/app"
		echo "module 2 $4-$(add "$4" 0x1000) bias=$4 build_id=none path=/libc.so"
	} | sed "s/^/leakwrap[1.$1] /" >"$W/body"
	cat "$W/body"
	echo "leakwrap[1.$1] end sites=1 lines=$(($(wc -l <"$W/body") + 1)) dump_ns=$2"
}
# processes WHAT NUMBER BYTES LOG...: the logs are of NUMBER processes, which hold BYTES.
processes() {
	what=$1 number=$2 bytes=$3
	shift 3
	status_is 0 "$lw" report -f folded "$@"
	equal "$what: bytes" "$(awk '{ n += $NF } END { print n }' "$W/out")" "$bytes"
	status_is 0 "$lw" report --merge "$@"
	shows "the last dumps of $number process"
	shows "^  $bytes bytes live"
}
{
	container 1 100 0x10000 0x70000 500 '/app a'
	container 2 200 0x10000 0x70000 501 '/app a'
} >"$W/base"
container 3 40 0x20000 0x70000 502 '/app a' >"$W/moved"
processes "a program elsewhere" 2 240 "$W/base" "$W/moved"
container 3 40 0x10000 0x70000 502 '/app a b' >"$W/command"
processes "another command line" 2 240 "$W/base" "$W/command"
container 3 40 0x10000 0x70000 90 '/app a' >"$W/machine"
processes "another machine" 2 240 "$W/base" "$W/machine"
container 3 40 0x10000 0x70000 501 >"$W/same"
processes "no command line" 1 40 "$W/base" "$W/same"
container 1 300 0x0 0x70000 500 >"$W/fixed"
container 2 40 0x0 0x70000 501 >"$W/same"
container 2 40 0x0 0x80000 501 >"$W/moved"
processes "no PIE" 1 40 "$W/fixed" "$W/same"
processes "no PIE, a library elsewhere" 2 340 "$W/fixed" "$W/moved"
# The dumps of two containers may be mixed in one log.
for number in 1 2 3; do
	container $number $((number * 10)) 0x10000 0x70000 50$number
	container $number $((number * 100)) 0x20000 0x80000 50$number
done >"$W/mixed"
processes "two containers in one log" 2 330 "$W/mixed"

# A process that executes a program keeps its PID, and counts from 1 again.
echo "70 1 complete 0x20" |
	make_dump 7.1 2026-11-20T18:40:00Z /bin/next 0x1000 none >"$W/next"
cat "$W/plain" "$W/second" "$W/next" >"$W/log"
report "$W/log@7:1"
equal "both" "$(grep -c 'process 7, dump 1' "$W/out")" 2
report "$W/log@7:1:2"
shows '^/bin/next, process 7, dump 1 '
equal "the second" "$(grep -c 'process 7, dump' "$W/out")" 1
for ambiguous in "$W/log@1" "$W/log@7:1"; do
	status_is 2 "$lw" diff "$ambiguous" "$W/log@2"
	said "${ambiguous##*/} has several dumps 1 of process 7: choose one as LOG@PID:N:K, the Kth"
	status_is 2 "$lw" diff "$W/log@7:1:1" "$ambiguous"
done
report -f text "$W/log@7:1:1"
shows_not /bin/next
status_is 0 "$lw" diff -f folded "$W/log@7:1:1" "$W/log@7:1:2"
grep -q ' 0 70$' "$W/out" || fail "the second dump is not the new one: $(cat "$W/out")"
status_is 2 "$lw" report "$W/log@7:1:3"
said 'holds no dump 7:1:3'
for wrong in 7:1:0 7:1: 7:1:x 7:1:1:1; do
	status_is 2 "$lw" report "$W/log@$wrong"
	said 'what follows @ is the number of a dump, PID:NUMBER, or PID:NUMBER:K$'
done
# K counts the lines of leakwrap list, that of an empty dump, too.
{
	tail -n 2 "$W/plain"
	cat "$W/next"
} >"$W/log"
status_is 0 "$lw" list "$W/log"
equal "lines of list" "$(grep -c '^ *7  *1 ' "$W/out")" 2
report "$W/log@7:1:2"
shows '^/bin/next, process 7, dump 1 '
status_is 2 "$lw" report "$W/log@7:1:1"
said 'log:1: dump 7.1 is damaged: its first line is missing'
# A log that has the same dump twice has one dump.
cat "$W/plain" "$W/plain" "$W/second" >"$W/log"
status_is 0 "$lw" diff "$W/log@1" "$W/log@2"

# -- damage ----------------------------------------------------------------------------------------
damage() {
	report "$W/log"
	messages "$1" 1
	said "log:$2: dump 7.1 is damaged: $3"
	equal "$1: call sites" "$(grep -c '^  #' "$W/out")" "$4"
}
head -n 11 "$W/plain" >"$W/log"
damage "cut at a line" 11 'it has no end: the log ends' 3
head -n 12 "$W/plain" | head -c -8 >"$W/log"
damage "cut in a line" 12 'a line of it is cut' 3
sed '7d' "$W/plain" >"$W/log"
damage "a lost frame" 7 'a frame is missing' 3
sed '9d' "$W/plain" >"$W/log"
damage "a lost call site" 9 'a frame is missing' 2
sed '9,10d' "$W/plain" >"$W/log"
damage "a lost call site with its frames" 9 'a call site is missing' 2
sed '1d' "$W/plain" >"$W/log"
damage "a lost first line" 1 'its first line is missing' 3
sed '2d' "$W/plain" >"$W/log"
damage "lost totals" 15 'lines of it are missing' 3
shows 'its totals are missing'
sed '8s/0x1/0xz/' "$W/plain" >"$W/log"
damage "a damaged frame" 8 'a frame is damaged' 3
sed '6s/300/3e2/' "$W/plain" >"$W/log"
damage "a damaged call site" 6 'a call site is damaged' 2
awk 'NR == 9 { held = $0; next } { print } NR == 11 { print held }' "$W/plain" >"$W/log"
damage "lines in another order" 9 'a frame is missing or out of order' 3
equal "lines in another order: stacks" "$(grep -c '(no stack)' "$W/out")" 2
sed '16s/lines=.*/lines=/' "$W/plain" >"$W/log"
damage "a damaged end" 16 'its end is damaged' 3
# The frames of a call site whose line is cut are not those of the call site before.
printf '300 3 complete\n200 2 complete 0x1234 0x5678\n' |
	make_dump 7.1 2026-11-20T18:36:01Z $exe 0x10000 none |
	sed '/site 2:/{s/ bytes.*//; N; s/\n//}' >"$W/log"
damage "a cut call site" 7 'a line of it is cut' 1
shows '^      (no stack)$'
shows_not '+0x1234'
sed '2{h; b}; 15G' "$W/plain" >"$W/log"
damage "totals that came twice" 17 'lines of it came twice or were changed' 3
sed '16s/sites=3/sites=4/' "$W/plain" >"$W/log"
damage "a changed number of call sites" 16 'lines of it came twice or were changed' 3
sed '1s/version=1/version=9/' "$W/plain" >"$W/log"
status_is 2 "$lw" report "$W/log"
said 'log:1: dump 7.1 is damaged: its format version is not known'
{
	head -n 8 "$W/plain"
	cat "$W/second"
} >"$W/log"
report "$W/log"
messages "the next dump starts early" 1
said 'log:9: dump 7.1 is damaged: it has no end: the next dump starts'
shows 'process 7, dump 2'

# -- nothing to read -------------------------------------------------------------------------------
status_is 2 "$lw" report "$W/none"
said 'none: No such file'
status_is 2 "$lw" report "$W"
: >"$W/log"
status_is 2 "$lw" report "$W/log"
said 'holds no dump'
status_is 2 "$lw" report "$W/plain@4"
said 'holds no dump 4; its last is 1'
status_is 2 "$lw" report "$W/plain@x"
status_is 2 "$lw" report --format=xml "$W/plain"
status_is 2 "$lw" report ''
said '^leakwrap: a file without a name: No such file'
status_is 2 "$lw" nonsense
status_is 2 "$lw"
status_is 2 "$lw" report -o "$W/no/folder" "$W/plain"
[ ! -e /dev/full ] || status_is 2 sh -c '"$1" report -o /dev/full "$2"' sh "$lw" "$W/plain"

# The output does not take the place of an input: a log by any of its names, or a file of an option.
for file in plain suppressions settings map; do
	: >>"$W/$file"
	cp "$W/$file" "$W/kept"
	ln -f "$W/$file" "$W/link"
	case $file in
	plain) set -- "$W/plain@1" ;;
	suppressions) set -- --suppressions="$W/suppressions" "$W/plain" ;;
	settings) set -- --config="$W/settings" "$W/plain" ;;
	map) set -- --map="$W/map" "$W/plain" ;;
	esac
	for output in "$W/$file" "$W/link"; do
		status_is 2 "$lw" report -o "$output" "$@"
		said "$output is an input of this command: give -o another file"
		cmp -s "$W/$file" "$W/kept" || fail "-o destroyed its input $file"
	done
done
# shellcheck disable=SC2094 # the tool must not write it
status_is 2 "$lw" report -o "$W/plain" - <"$W/plain"
status_is 2 "$lw" diff -o "$W/plain" "$W/plain" "$W/plain"
status_is 0 "$lw" report -o "$W/report" "$W/plain"
status_is 0 "$lw" report -o "$W/report" "$W/plain"
# A link that leads to no file yet says nothing of the folder in which it stands.
mkdir "$W/closed" "$W/open" && ln -s ../open/report "$W/closed/link" && chmod 555 "$W/closed"
as_nobody=
[ "$(id -u)" -ne 0 ] || as_nobody='setpriv --reuid=65534 --clear-groups'
chmod 777 "$W/open"
# shellcheck disable=SC2086 # a command
if $as_nobody "$lw" report "$W/plain" >/dev/null 2>&1; then
	status_is 0 $as_nobody "$lw" report -o "$W/closed/link" "$W/plain"
fi
chmod 755 "$W/closed"
status_is 2 "$lw" report -o "$W/plain/report" "$W/plain"
said "$W/plain/report: Not a directory"

# -- processes that forked -------------------------------------------------------------------------
# A merged report has the notes, and how much from before a fork was left out.
cat >"$W/forks.c" <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile kept;
__attribute__((noinline)) void allocate(void) { kept = malloc(100); }
int main(int argc, char **argv)
{
	if (argc > 1)
		allocate();
	for (int i = 0; i < 1200; i++) {
		if (fork() == 0) {
			allocate();
			exit(argv == NULL);
		}
		wait(NULL);
	}
	return 0;
}
END
build forks "$W/forks.c"
rm -f "$W/forks.log"
LEAKWRAP_OPTIONS=log="$W/forks.log" "$W/forks" parent || fail "forks"
status_is 0 "$lw" report "$W/forks.log"
shows '^  note: 1,1[0-9]* forked children ended without a dump.* (process [0-9]*)$'
shows '^  left out from before the fork: [0-9,]* bytes in 64 blocks$'
rm -f "$W/forks.log"
LEAKWRAP_OPTIONS=log="$W/forks.log" "$W/forks" || fail "forks"
status_is 0 "$lw" report --each "$W/forks.log"
shows_not 'before the fork: 0 bytes'
