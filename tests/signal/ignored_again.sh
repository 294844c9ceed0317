#!/bin/sh
# While a program ignores the dump signal, the signal interrupts no system call, not even when the
# program sets SIG_IGN once more.
. tests/lib.sh

build ignored tests/signal/ignored_again.c -pthread
for _ in 1 2 3; do
	"$W/ignored" >"$W/out" 2>"$W/log" || fail "status $?"
	equal "reads" "$(cat "$W/out")" "interrupted: 0"
done
