#!/bin/sh
# leakwrap set turns recording on and off in a running program, and changes the sampling interval.
# After leakwrap mark its dumps tell new blocks from older ones.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
trap 'exec 7>&-; kill -9 $pid $secure $reader 2>/dev/null' EXIT
pid='' secure='' reader=''
status_is 0 "$lw" set --help

build switchable tests/tool/set.c
mkfifo "$W/in"

# start OPTIONS: starts the program, and sets $pid.
start() {
	: >"$W/said"
	LEAKWRAP_OPTIONS="log=$W/$1.log:$2" "$W/switchable" <"$W/in" >"$W/said" 2>"$W/err" &
	pid=$!
	exec 7>"$W/in"
	allocate 0
}

# allocate LETTER: the program allocates 10,000 blocks.
allocate() {
	echo "$1" >&7
	wait_until "$patience" grep -q "done $1" "$W/said" || fail "the program does not answer"
	: >"$W/said"
}

# live FUNCTION: prints the live blocks of the last dump at the call site whose innermost frame is
# FUNCTION.
live() {
	grep -B1 "  #0 .* $1+" "$W/out" | sed -n 's/.* bytes* in \([0-9]*\) block.*/\1/p'
}

start off record=0
allocate 1
status_is 0 "$lw" set $pid record=1
allocate 2
status_is 0 "$lw" set $pid sample=64K
allocate 3
status_is 0 "$lw" set $pid record=0
allocate 1
allocate 2
status_is 0 "$lw" dump $pid
equal "while it was off" "$(live first)" ""
equal "while it was on" "$(live second)" 10000
sampled=$(live third)
if [ "$sampled" -lt 7000 ] || [ "$sampled" -gt 13000 ]; then
	fail "sampled: $sampled of 10000"
fi
shows '^leakwrap.*] recording state=off since=20.* missing=possible$'
shows '] allocated allocated_bytes='
cp "$W/out" "$W/switched"
status_is 0 "$lw" report "$W/switched"
shows '^  allocated while this was counted: '
shows '^  allocated most often while this was counted$'
shows_not 'so far'
# The interval may change while it is off, and both at once.
status_is 0 "$lw" set $pid sample=0
allocate 1
status_is 0 "$lw" set $pid sample=32768 record=1
status_is 0 "$lw" set $pid sample=0
allocate 1
exec 7>&-
wait $pid || fail "the program ends with status $?"
dump_lines "$W/off.log" 2 | sed 's/^/leakwrap /' >"$W/out"
equal "on again" "$(live first)" 10000
# What was allocated since every block is recorded is not counted.
! grep -q 'allocated_bytes=' "$W/out" || fail "a dump says what was allocated in part"
status_is 0 "$lw" report -f json "$W/off.log"
shows '"recording":"off","recording_since":"20'
shows '"recording":"all","recording_since":"20'
status_is 0 "$lw" report "$W/off.log@1"
shows '^  recording is off since 20.*; blocks that were allocated while it was off are missing$'
status_is 0 "$lw" report "$W/off.log@2"
shows '^  recording all blocks since 20.*; blocks that were allocated before may be missing$'
# With a sample from the start, no block is missing, also when all are recorded later.
start sampled sample=64K
status_is 0 "$lw" dump $pid
shows '] recording state=sample since=20.* missing=none$'
status_is 0 "$lw" set $pid sample=0
exec 7>&-
wait $pid || fail "the sampling program ends with status $?"
status_is 0 "$lw" report --all "$W/sampled.log"
shows '^  recording a sample since 20[-0-9]* [:0-9]* UTC$'
shows '^  recording all blocks since 20[-0-9]* [:0-9]* UTC$'

# After a mark a dump tells new blocks from older ones, at the same call sites.
start marked allocated=1:kinds=never
allocate 1
allocate 2
status_is 0 "$lw" mark $pid
allocate 1
allocate 3
status_is 0 "$lw" dump $pid
shows '] mark since_mark_bytes=4[0-9]* since_mark_blocks=200[0-9]* mark_time=20.*Z$'
# since FUNCTION: prints live blocks, allocated blocks and blocks since the mark of FUNCTION.
since() {
	grep -B1 "  #0 .* $1+" "$W/out" | tr '=' ' ' |
		awk '$2 == "site" { print $7, $(NF - 6), $NF }'
}
equal "first" "$(since first)" "20000 20000 10000"
equal "second" "$(since second)" "10000 10000 0"
equal "third" "$(since third)" "10000 10000 10000"
status_is 0 "$lw" mark $pid
allocate 3
status_is 0 "$lw" dump $pid
equal "first, next mark" "$(since first)" "20000 20000 0"
equal "third, next mark" "$(since third)" "20000 20000 10000"
exec 7>&-
wait $pid || fail "the marked program ends with status $?"
status_is 0 "$lw" report -f json "$W/marked.log"
shows '"since_mark_bytes":30000000,"since_mark_blocks":10000'
shows '"mark_time":"20'
status_is 0 "$lw" report "$W/marked.log"
shows '^  of these since the mark, 20.*: 30,000,000 bytes in 10,000 blocks$'
shows '60,000,000 bytes in 20,000 blocks.*, 30,000,000 bytes since the mark$'
status_is 2 "$lw" mark
status_is 2 "$lw" mark 4711 4712

# Which dumps tell lost memory from reachable memory. misuse= does not mind.
start kinds misuse=report:exit=0
allocate 1
status_is 0 "$lw" set $pid kinds=always
status_is 0 "$lw" dump $pid
shows '] kinds definite'
status_is 0 "$lw" set $pid kinds=never
status_is 0 "$lw" dump $pid
! grep -q '] kinds' "$W/out" || fail "kinds=never tells kinds"
exec 7>&-
wait $pid || fail "the program with kinds= ends with status $?"
start both kinds=never
status_is 0 "$lw" set $pid record=0 kinds=always sample=64K
exec 7>&-
wait $pid || fail "the program with both ends with status $?"
grep -q '] kinds' "$W/both.log" || fail "kinds=always was not set"
grep -q '] recording state=off' "$W/both.log" || fail "record=0 was not set"

# A request waits while a dump is written, as long as the reader of that dump holds it up. Then each
# of several requests is served.
cat >"$W/many.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
__attribute__((noinline)) void odd(unsigned path);
__attribute__((noinline)) void even(unsigned path)
{
	path < 2 ? (void)(kept = malloc(24)) : path & 1 ? odd(path / 2) : even(path / 2);
}
void odd(unsigned path)
{
	path < 2 ? (void)(kept = malloc(24)) : path & 1 ? odd(path / 2) : even(path / 2);
}
int main(void)
{
	for (unsigned path = 2048; path < 4096; path++)
		even(path);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
END
build many "$W/many.c"
mkfifo "$W/dump" "$W/go"
: >"$W/said"
(read -r _ <"$W/go" && cat) <"$W/dump" >"$W/dump.text" &
reader=$!
"$W/many" >"$W/said" 2>"$W/dump" &
pid=$!
wait_until "$patience" grep -q ready "$W/said" || fail "the program does not start"
kill -USR1 $pid
# The third digit from the right has the bit of SIGUSR1.
wait_until "$patience" grep -q '^SigBlk:.*[2367abef]..$' /proc/$pid/status ||
	fail "no dump is written"
"$lw" mark $pid 2>"$W/mark.err" &
marker=$!
"$lw" set $pid sample=4K 2>"$W/err" &
setter=$!
sleep 1
echo go >"$W/go"
wait $setter || fail "set, while a dump is written: $(cat "$W/err")"
wait $marker || fail "mark, while a dump is written: $(cat "$W/mark.err")"
kill -9 $pid
wait $reader

# Two commands that change the same do not miss what they asked for. The first reads the program's
# memory so slowly at first that the second asks before the first has seen its change.
cat >"$W/slow.c" <<'END'
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long count,
                         const struct iovec *there, unsigned long there_count, unsigned long flags)
{
	static int reads;
	if (reads++ < 3)
		sleep(1);
	return syscall(SYS_process_vm_readv, pid, here, count, there, there_count, flags);
}
END
$CC -D_GNU_SOURCE -shared -fPIC -o "$W/slow.so" "$W/slow.c" || fail "cannot compile slow.so"
start two exit=0
LD_PRELOAD=$W/slow.so "$lw" set -t 30 $pid sample=64K 2>"$W/slow.err" &
setter=$!
sleep 1.5
status_is 0 "$lw" set -t 30 $pid sample=128K
wait $setter || fail "the slow set: $(cat "$W/slow.err")"
exec 6<"/proc/$pid/status"
flock 6 # as a command does whose turn it is
status_is 2 "$lw" set -t 1 $pid sample=0
said "other commands of leakwrap were asking process $pid all the 1 s"
exec 6<&-
status_is 0 "$lw" set $pid sample=0
exec 7>&-
wait $pid || fail "the program of two commands ends with status $?"

# What makes no sense, or is refused, changes nothing.
start checked misuse=report
for wrong in kinds kinds=lost record=2 record= sample=2G sample=x sample=99999999 depth=3 record; do
	status_is 2 "$lw" set $pid $wrong
done
status_is 2 "$lw" set $pid
status_is 2 "$lw" set x record=1
status_is 2 "$lw" set $pid record=0
said "process $pid has the option misuse=, which needs all blocks: record= and sample= cannot"
status_is 0 "$lw" set $pid record=1 kinds=never
status_is 0 "$lw" mark $pid
exec 7>&-
wait $pid || fail "the program with misuse= ends with status $?"
! grep -q '] recording' "$W/checked.log" || fail "misuse= was switched off"

start failing fail=nth=1,below=nothing
status_is 2 "$lw" set $pid sample=4K
said "process $pid has the option fail=, which needs all blocks: record= and sample= cannot"
status_is 2 "$lw" mark $pid
said "process $pid has the option fail=, with which there are no marks"
exec 7>&-
wait $pid || fail "the program with fail= ends with status $?"

# A program with raised privileges refuses.
[ "$(id -u)" = 0 ] || exit 0
cp "$W/switchable" "$W/secure"
if ! chown nobody "$W/secure" || ! chmod 4755 "$W/secure"; then
	exit 0
fi
"$W/secure" <"$W/in" >"$W/said" 2>"$W/secure.log" &
secure=$!
exec 7>"$W/in"
allocate 0
if ! grep -q '^Uid:.0' "/proc/$secure/status" || grep -q '^Uid:.0.0' "/proc/$secure/status"; then
	exit 0 # set-user-id has no effect in this folder
fi
status_is 2 "$lw" set --timeout=1 $secure record=0
said 'it has raised privileges'
