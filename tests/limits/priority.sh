#!/bin/sh
# A real-time thread that waits for the tracer's lock lends its priority to the thread that has it.
. tests/lib.sh

build_plain priority tests/limits/priority.c "$O/libleakwrap.a" -pthread
"$W/priority"
status=$?
[ $status -ne 77 ] || skip "no real-time threads are allowed here"
[ $status -eq 0 ] || fail "status $status"
