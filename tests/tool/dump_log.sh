#!/bin/sh
# leakwrap dump finds the dump, whatever happens to the log meanwhile, and no file holds it up.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

# For each S of its input the program stands still until the next byte comes: a signal waits until
# the child of vfork has ended.
cat >"$W/wait.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
int main(void)
{
	char byte;
	kept = malloc(1000);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	while (read(STDIN_FILENO, &byte, 1) != 0)
		if (byte == 'S' && vfork() == 0) {
			if (write(STDOUT_FILENO, "still\n", 6) != 6 ||
			    read(STDIN_FILENO, &byte, 1) != 1)
				_exit(1);
			_exit(0);
		}
}
END
build wait "$W/wait.c"
mkfifo "$W/input"

# start OPTIONS: starts the program.
start() {
	: >"$W/ready"
	LEAKWRAP_OPTIONS=exit=0:signal=RTMIN+3:$1 "$W/wait" <"$W/input" >>"$W/ready" 2>"$W/stderr" &
	program=$!
	exec 3>"$W/input"
	wait_until "$patience" test -s "$W/ready" || fail "the program does not start"
}
stop() {
	exec 3>&-
	wait "$program"
}
# stand_still: the program stands still until go_on.
stand_still() {
	: >"$W/ready"
	printf S >&3
	wait_until "$patience" grep -q still "$W/ready" || fail "$what: the program does not stop"
}
go_on() {
	printf G >&3
}
# ask NAME OPTION...: starts leakwrap dump as tool, which writes NAME.out and NAME.err.
ask() {
	name=$1
	shift
	"$lw" dump --timeout=10 "$@" "$program" >"$W/$name.out" 2>"$W/$name.err" &
	tool=$!
}
# answered NAME: the tool has found the dump.
answered() {
	wait $tool
	equal "$what: $(cat "$W/$1.err"): status" $? 0
	grep -q ' total live_bytes=1000 ' "$W/$1.out" || fail "$what: $1 prints no dump"
}
has_asked() {
	awk '/^ShdPnd/ { pending = $2 !~ /^0*$/ } END { exit !pending }' "/proc/$program/status"
}

what="the log is renamed after the dump"
start "log=$W/log"
stand_still
ask renamed
wait_until "$patience" has_asked || fail "$what: the tool does not ask"
kill -STOP $tool
go_on
wait_for_dump "$W/log" "$program.1"
mv "$W/log" "$W/log.1"
kill -CONT $tool
answered renamed

# The tool looks for the dump again and again. It says so if the dump may have been thrown away.
: >"$W/log"
for number in 2 3; do
	what="the log of dump $number is truncated"
	stand_still
	"$lw" dump --timeout=2 "$program" >"$W/truncated.out" 2>"$W/truncated.err" &
	tool=$!
	wait_until "$patience" has_asked || fail "$what: the tool does not ask"
	kill -STOP $tool
	go_on
	wait_for_dump "$W/log" "$program.$number"
	: >"$W/log"
	kill -CONT $tool
	wait $tool
	equal "$what: status" $? 2
	grep -q 'the log was truncated meanwhile' "$W/truncated.err" ||
		fail "$what: $(cat "$W/truncated.err")"
	seq 1000 >"$W/log" # is longer than the dump
done
rm "$W/log"

what="another client asks without kinds"
stand_still
ask plain
plain=$tool
wait_until "$patience" has_asked || fail "$what: the tool does not ask"
ask kinds --kinds
wait_for_sleep $tool
go_on
answered kinds
grep -q '\] kinds definite_bytes=' "$W/kinds.out" || fail "$what: the dump has no kinds"
tool=$plain
answered plain

what="a hole of 600 MB in the log"
stand_still
prlimit --as=300000000 "$lw" dump --timeout=30 "$program" >"$W/hole.out" 2>"$W/hole.err" &
tool=$!
wait_until "$patience" has_asked || fail "$what: the tool does not ask"
truncate -s 600M "$W/log"
go_on
answered hole
rm "$W/log"

# The limit is in seconds of processor time: 40 GB take a minute or more.
what="--timeout counts the time of reading"
stand_still
prlimit --cpu=15 "$lw" dump --timeout=1 "$program" >"$W/long.out" 2>"$W/long.err" &
tool=$!
wait_until "$patience" has_asked || fail "$what: the tool does not ask"
truncate -s 40G "$W/log"
wait $tool
equal "$what: status" $? 2
grep -q 'no whole dump .* within 1 s' "$W/long.err" || fail "$what: $(cat "$W/long.err")"
go_on
stop
rm "$W/log"

what="a folder and a link whose names match the log's"
mkdir "$W/s.backup"
ln -s /dev/null "$W/s.0"
start "log=$W/s.%n"
ask pattern
answered pattern
stop

what="the log becomes a FIFO, again and again"
cat >"$W/swap.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	while (argc > 2)
		renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE);
	return 1;
}
END
build_plain swap "$W/swap.c"
start "log=$W/swapped"
: >"$W/swapped"
mkfifo "$W/fifo"
"$W/swap" "$W/swapped" "$W/fifo" &
swapper=$!
for _ in $(seq 25); do
	timeout 5 "$lw" dump --timeout=1 "$program" >"$W/out" 2>"$W/err"
	[ $? -ne 124 ] || fail "$what: leakwrap dump hangs"
done
kill $swapper
stop
