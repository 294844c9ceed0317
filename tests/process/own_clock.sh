#!/bin/sh
# Neither a dump nor the end of the program reads a clock_gettime of the program's own, which locks.
. tests/lib.sh

build own_clock tests/process/own_clock.c
timeout -s KILL 20 "$W/own_clock" >"$W/out" 2>"$W/log" || fail "status $?"
equal "readings of the clock" "$(cat "$W/out")" 1
equal "reasons" "$(dump_value "$W/log" 1 reason) $(dump_value "$W/log" 2 reason)" "signal exit"
year=$(dump_value "$W/log" 1 time | cut -c 1-4)
[ "$year" -ge 2026 ] || fail "the dump's year is $year"
