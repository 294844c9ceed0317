# shellcheck shell=sh disable=SC2154 # variables of tests/lib.sh
# drive.sh - runs a demo program for the demo and its tests: one request at a time, through a pipe.
#
# Sourced after tests/lib.sh. It runs one program at a time; the program's PID is $program.

# start OUT LOG COMMAND...: starts the program. Its standard output goes to OUT. Its standard error,
# with the dumps, goes to LOG.
start() {
	out=$1 log=$2
	shift 2
	rm -f "$out" "$log" "$out.pipe"
	mkfifo "$out.pipe" || exit 2
	"$@" <"$out.pipe" >"$out" 2>"$log" &
	program=$!
	exec 3>"$out.pipe"
	rm -f "$out.pipe"
}

answered() {
	[ "$(grep -c ' holds ' "$out")" -ge "$1" ] || ! kill -0 "$program" 2>/dev/null
}

# request COUNT: sends standard input to the program, and waits until it has answered COUNT times in
# all.
request() {
	cat >&3
	wait_until "$patience" answered "$1" ||
		fail "the program does not answer: $(tail -n 3 "$out" "$log")"
}

# signal_dump N: asks for a dump, the program's dump N, and waits for it.
signal_dump() {
	kill -USR1 "$program" || fail "the program has ended: $(tail -n 3 "$log")"
	wait_for_dump "$log" "$program.$1"
}

# finish: ends the program's input. Returns the program's exit status.
finish() {
	exec 3>&-
	wait "$program"
}

# If a test or the demo ends early, it kills the program.
trap 'kill "$program" 2>/dev/null; trap - EXIT; exit 1' INT TERM
trap 'kill "$program" 2>/dev/null' EXIT
program=
