#!/bin/sh
# While a program ignores the dump signal, it interrupts no system call, not even as the program
# says once more that it is ignored.
. tests/lib.sh

build ignored tests/signal/ignored_again.c -pthread
for _ in 1 2 3; do
	"$W/ignored" >"$W/out" 2>"$W/log" || fail "status $?"
	equal "reads" "$(cat "$W/out")" "interrupted: 0"
done
