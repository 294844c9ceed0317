#!/bin/sh
# A dump states the tracer's memory and the time that this dump took.
#
# The stated memory is the program's growth, within the variation of the C library's and the
# program's own pages. The tracer's code, up to half a megabyte of pages of the file, is not stated.
. tests/lib.sh

build_plain plain tests/limits/stated_cost.c
build traced tests/limits/stated_cost.c
plain=$("$W/plain") || fail "status $?"
traced=$("$W/traced" 2>"$W/log") || fail "status $?"
tracer=$(dump_value "$W/log" 1 tracer_bytes)
echo "untraced $plain, traced $traced, tracer_bytes $tracer"
difference=$((traced - plain - tracer))
grown=$((traced - plain))
[ $difference -lt 1500000 ] ||
	fail "the tracer says $tracer, the program has grown by $grown"
[ $difference -gt -1000000 ] ||
	fail "the tracer says $tracer, the program has grown by only $grown"
[ "$(dump_value "$W/log" 1 dump_ns)" -gt 1000 ] || fail "dump_ns=$(dump_value "$W/log" 1 dump_ns)"
