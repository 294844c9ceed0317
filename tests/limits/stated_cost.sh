#!/bin/sh
# A dump says what the tracer costs: its memory, which is what the program has grown by (give or take what the
# C library and the program's own pages vary by), and the time that this dump took.
. tests/lib.sh

build_plain plain tests/limits/stated_cost.c
build traced tests/limits/stated_cost.c
plain=$("$W/plain") || fail "status $?"
traced=$("$W/traced" 2>"$W/log") || fail "status $?"
tracer=$(dump_value "$W/log" 1 tracer_bytes)
echo "untraced $plain, traced $traced, tracer_bytes $tracer"
difference=$((traced - plain - tracer))
[ $difference -lt 1000000 ] || fail "the tracer says $tracer, the program has grown by $((traced - plain))"
[ $difference -gt -1000000 ] || fail "the tracer says $tracer, the program has grown by only $((traced - plain))"
[ "$(dump_value "$W/log" 1 dump_ns)" -gt 1000 ] || fail "dump_ns=$(dump_value "$W/log" 1 dump_ns)"
