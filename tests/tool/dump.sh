#!/bin/sh
# dump.sh - leakwrap dump asks only who is traced and listens, and waits until the dump is whole.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/wait.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
int main(int argc, char **argv)
{
	sigset_t all;
	(void)argv;
	kept = malloc(1000);
	kept = NULL;
	sigfillset(&all);
	if (argc > 1)
		sigprocmask(SIG_BLOCK, &all, NULL);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
END
build wait "$W/wait.c"
build_plain plain "$W/wait.c"
# Catches the signal and names the tracer's variable, as a program that starts traced ones may.
sed 's/kept = NULL;/signal(SIGUSR1, SIG_DFL); signal(SIGUSR1, nothing); kept = "LEAKWRAP_OPTIONS=";/
	s/^int main/static void nothing(int number) { (void)number; }\n&/' "$W/wait.c" >"$W/catches.c"
build_plain catches "$W/catches.c"

# start_program COMMAND...: in the background, until it says ready.
start_program() {
	: >"$W/ready"
	"$@" >"$W/ready" 2>>"$W/stderr" &
	program=$!
	wait_until 10 test -s "$W/ready" || fail "$1 does not start"
}
stop() {
	kill -9 "$program"
	wait "$program" 2>/dev/null
}
shows_dump() {
	shows "^leakwrap\\[$program\\.$1\\] dump version=1 reason=signal"
	shows "^leakwrap\\[$program\\.$1\\] total live_bytes=1000 live_blocks=1 "
	equal "its end" "$(tail -n 1 "$W/out" | cut -d ' ' -f 2)" end
}

LEAKWRAP_OPTIONS="log=$W/log.%p" start_program "$W/wait"
status_is 0 "$lw" dump $program
shows_dump 1
status_is 0 "$lw" dump $program
shows_dump 2
stop
LEAKWRAP_OPTIONS="signal=RTMIN+3:log='$W/log of %e.%n'" start_program "$W/wait"
status_is 0 "$lw" dump $program
shows_dump 1
[ -f "$W/log of wait.1" ] || fail "no $W/log of wait.1"
status_is 0 "$lw" dump $program
shows_dump 2
"$lw" dump $program | "$lw" report --exe="$W/wait" >"$W/out" || fail "dump | report"
shows '1,000 bytes live in 1 block'
stop
start_program "$W/wait"
status_is 0 "$lw" dump $program
shows_dump 1
stop

# Behind another program's line that has no end yet; called by another name than its file's; static.
printf 'no end: ' >>"$W/stderr"
start_program "$W/wait"
status_is 0 "$lw" dump $program
shows_dump 1
stop
ln -s wait "$W/alias"
LEAKWRAP_OPTIONS="log=$W/%e.log" start_program "$W/alias"
status_is 0 "$lw" dump $program
shows_dump 1
[ -f "$W/alias.log" ] || fail "no $W/alias.log"
stop
build wait_static -static "$W/wait.c"
LEAKWRAP_OPTIONS="log=$W/%e.log" start_program "$W/wait_static"
status_is 0 "$lw" dump $program
shows "^leakwrap\\[$program\\.1\\] end "
[ -f "$W/wait_static.log" ] || fail "no $W/wait_static.log"
kill -STOP $program
status_is 2 "$lw" dump $program
said "process $program is stopped"
kill -CONT $program
stop
LEAKWRAP_OPTIONS="log=$W/none/log" start_program "$W/wait"
status_is 2 "$lw" dump --timeout=1 $program
said "no whole dump of process $program came to $W/none/log within 1 s"
stop

# A pipe cannot be read by others.
mkfifo "$W/pipe" || exit 2
cat "$W/pipe" >"$W/piped" &
reader=$!
# shellcheck disable=SC2016 # for the inner shell
start_program sh -c 'exec "$0/wait" 2>"$0/pipe"' "$W"
status_is 0 "$lw" dump $program
said 'standard error: '
wait_for_dump "$W/piped" "$program.1"
stop
wait $reader

for program_name in plain catches; do
	start_program "$W/$program_name"
	status_is 2 "$lw" dump $program
	said "is not traced"
	kill -0 $program || fail "a program that is not traced was ended"
	stop
done
strip -o "$W/stripped" "$W/wait"
LEAKWRAP_OPTIONS="log=$W/stripped.log" start_program "$W/stripped"
rm "$W/stripped"
status_is 0 "$lw" dump $program
shows_dump 1
stop
start_program "$W/wait" blocked
status_is 2 "$lw" dump $program
said "blocks signal USR1"
stop
LEAKWRAP_OPTIONS=signal=none start_program "$W/wait"
status_is 2 "$lw" dump $program
said "takes no dump signal"
stop
status_is 2 "$lw" dump 4194305
said 'there is none'
status_is 2 "$lw" dump me
status_is 2 "$lw" dump
