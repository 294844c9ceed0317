# shellcheck shell=sh
# counted.sh - costs that are counted, not timed, behind tests/lib.sh.  They are the same on a busy
# machine.

ROUNDS=1000

command -v valgrind >/dev/null || skip "valgrind is not installed"

# instructions PROGRAM ARGUMENT...: what the whole program takes, without the kernel's.
instructions() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
		--log-file="$W/valgrind" "$@" >"$W/valgrind.out" 2>"$W/valgrind.err" ||
		fail "under valgrind, $*: status $?: $(tail -n 3 "$W/valgrind" "$W/valgrind.err")"
	sed -n 's/,//g; s/.*I *refs: *//p' "$W/valgrind"
}

# instructions_a_round PROGRAM ARGUMENT...: what one round takes.  The last argument of PROGRAM,
# which is added here, is the number of rounds: ROUNDS, and three times ROUNDS.
instructions_a_round() {
	some=$(instructions "$@" $ROUNDS) || fail "$some"
	more=$(instructions "$@" $((3 * ROUNDS))) || fail "$more"
	echo $(((more - some) / (2 * ROUNDS)))
}
