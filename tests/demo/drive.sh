# shellcheck shell=sh
# drive.sh - runs a demo program as the demo and its tests do: a request at a time, through a pipe.
#
# Sourced after tests/lib.sh.  One program at a time; its process is $program.

# start OUT LOG COMMAND...: standard output to OUT, standard error, and with it the dumps, to LOG.
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

# request COUNT: passes standard input on, and waits until the program has answered COUNT times in all.
request() {
	cat >&3
	wait_until 30 answered "$1" || fail "the program does not answer: $(tail -n 3 "$out" "$log")"
}

# signal_dump N: asks for a dump, the program's Nth, and waits for it.
signal_dump() {
	kill -USR1 "$program" || fail "the program has ended: $(tail -n 3 "$log")"
	wait_for_dump "$log" "$program.$1"
}

# finish: the end of the input; the program's exit status is returned.
finish() {
	exec 3>&-
	wait "$program"
}

# A test or a demo that ends early takes the program with it.
trap 'kill "$program" 2>/dev/null; trap - EXIT; exit 1' INT TERM
trap 'kill "$program" 2>/dev/null' EXIT
program=
