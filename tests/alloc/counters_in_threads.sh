#!/bin/sh
# Threads may ask for the counters at the same time, and while dumps are written.
. tests/lib.sh

build counters tests/alloc/counters_in_threads.c
LEAKWRAP_OPTIONS=exit=0:log=/dev/null "$W/counters" 2>"$W/err" ||
	fail "status $?: $(cat "$W/err")"
