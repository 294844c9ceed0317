#!/bin/sh
# A program that enters a sandbox lives on in it, and the tracer records what it can.
#
# The sandbox ends the process at a system call that it does not know, and knows none that only the
# tracer makes.
. tests/lib.sh

# has_both_dumps [MORE]: fails unless the dumps show the program's blocks, and at most MORE others.
has_both_dumps() {
	for n in 1 2; do
		dump_is_whole "$W/log" "$pid.$n" || fail "$how: dump $n is not whole"
		blocks=$(dump_value "$W/log" "$pid.$n" live_blocks)
		if [ "$blocks" -lt 2000 ] || [ "$blocks" -gt $((2000 + ${1:-0})) ]; then
			fail "$how: dump $n shows $blocks blocks"
		fi
	done
}

# run PROGRAM HOW: sets pid, and fails unless the program ends by itself.
run() {
	"$1" "$2" 2>"$W/log" &
	pid=$!
	wait $pid
	status=$?
	[ $status -ne 77 ] || skip "no seccomp filters here"
	equal "$2: status" $status 0
}

messages() {
	grep -c '^leakwrap: a seccomp filter' "$W/log"
}

build_program_only sandboxed tests/process/seccomp_lives_on.c
how=least
run "$W/sandboxed" $how
grep -q 'forbids rt_sigreturn: from now on no signal asks for dumps' "$W/log" ||
	fail "$how: the dump signal is lost without a message"
grep -q 'forbids write: from now on a dump may not be written' "$W/log" ||
	fail "$how: dumps are lost without a message"
equal "$how: messages" "$(messages)" 2
# The program's own handler, which ends it, must not get the request.
for last in wait catch; do
	"$W/sandboxed" least $last 2>/dev/null &
	pid=$!
	until grep -q '^Seccomp:.2' /proc/$pid/status; do sleep 0.1; done
	"$O/leakwrap" dump $pid 2>"$W/refusal" && fail "$last: a dump without a handler"
	grep -q 'takes no dump signal: .* its seccomp filter allows the tracer no' "$W/refusal" ||
		fail "$last: leakwrap dump says: $(cat "$W/refusal")"
	kill $pid
	wait $pid
	equal "$last: status" $? $((128 + 15))
done
for how in dumps syscall prctl listener vfork strict; do
	run "$W/sandboxed" $how
	has_both_dumps
	equal "$how: messages" "$(messages)" "$([ $how = strict ] && echo 2 || echo 0)"
done
how=refused
run "$W/sandboxed" $how
has_both_dumps
LEAKWRAP_OPTIONS=log=$W/own "$W/sandboxed" dumps wait 2>/dev/null &
pid=$!
until grep -q '^Seccomp:.2' /proc/$pid/status; do sleep 0.1; done
"$O/leakwrap" dump --timeout=1 $pid 2>"$W/refusal" && fail "a dump without a log"
grep -q 'its seccomp filter may forbid to open the log' "$W/refusal" ||
	fail "leakwrap dump says: $(cat "$W/refusal")"
kill $pid
wait $pid
LEAKWRAP_OPTIONS=log=$W/own "$W/sandboxed" dumps 2>"$W/log"
equal "with a log of its own: status" $? 0
grep -q 'forbids open: from now on a dump may not be written' "$W/log" ||
	fail "the log is lost without a message"
LEAKWRAP_OPTIONS=crash=1:unwind=table:misuse=1 "$W/sandboxed" least 2>"$W/log"
equal "more options: status" $? 0

# libseccomp loads the filter.  A static program shows some blocks of the C library.
[ -f /usr/include/seccomp.h ] || fail "no libseccomp: run tests/setup.sh"
how=load
for flags in '' -static; do
	# shellcheck disable=SC2086 # one or none
	build_program_only loaded $flags -DWITH_LIBRARY tests/process/seccomp_lives_on.c -lseccomp
	run "$W/loaded" $how
	has_both_dumps ${flags:+10}
	equal "$how $flags: messages" "$(messages)" 0
done
