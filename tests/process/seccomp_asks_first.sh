#!/bin/sh
# In a sandbox the tracer asks before each call that it makes through the C library, too.
#
# Each filter ends the process at one system call, which the program itself does not make.
. tests/lib.sh

[ -f /usr/include/seccomp.h ] || fail "no libseccomp: run tests/setup.sh"
build_program_only filtered tests/process/seccomp_asks_first.c -lseccomp

# number NAME: of a system call.
number() {
	echo "#include <sys/syscall.h>
SYS_$1" | $CC -E -P -x c - | tail -n 1
}

# lives ARGUMENT...: the program ends by itself, with the status 0.
lives() {
	"$W/filtered" "$@" >"$W/out" 2>"$W/log"
	status=$?
	[ $status -ne 77 ] || skip "no seccomp filters here"
	[ $status -eq 0 ] || fail "$*: status $status: $(cat "$W/out")"
}

action=$(number rt_sigaction)
for second in rt_sigreturn rt_sigprocmask sigaltstack tgkill; do
	lives again "$action" "$(number $second)"
done
lives execs "$action"
for call in rt_sigaction sigaltstack; do
	lives traces "$(number $call)"
done
lives invalid
lives loads
lives masks
lives failing_masks
lives actions

# A parent ends its child by the dump signal.
"$W/filtered" ended "$(number tgkill)" 2>/dev/null
equal "a child that must not send signals to a thread: signal" $? 10
"$W/filtered" ended "$action" 2>/dev/null
equal "a child that must not change an action: status" $? $((128 + 10))

LEAKWRAP_OPTIONS=exit=0 "$W/filtered" forked "$(number getpid)" >"$W/out" 2>"$W/child"
grep -q "^leakwrap\[$(cat "$W/out")\.1\] end" "$W/child" ||
	fail "the child $(cat "$W/out") has no dump: $(grep ' end ' "$W/child")"

"$W/filtered" waits "$(number rt_sigpending)" 2>"$W/log" &
pid=$!
until grep -q '^Seccomp:.2' /proc/$pid/status; do sleep 0.1; done
"$O/leakwrap" dump $pid >"$W/dump" || fail "no dump of a program in sigwait"
kill $pid
wait $pid
equal "a program in sigwait: status" $? 0

# The copy that looks for lost memory asks whether its original is there.
"$W/filtered" waits "$(number getppid)" 2>"$W/log" &
pid=$!
until grep -q '^Seccomp:.2' /proc/$pid/status; do sleep 0.1; done
"$O/leakwrap" dump --kinds $pid >"$W/dump" || fail "no dump with kinds: $(cat "$W/log")"
kill $pid
wait $pid
equal "the copy's dump: scanned" "$(dump_value "$W/dump" $pid.1 scanned)" copy

# A filter that comes when the memory of memory= is used up is known.
LEAKWRAP_OPTIONS=memory=64K "$W/filtered" again "$(number ptrace)" 2>"$W/log"
grep -q ' end ' "$W/log" || fail "no memory for a filter: $(cat "$W/log")"
