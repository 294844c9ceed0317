#!/bin/sh
# Blocks from stacks that hardly repeat keep their backtraces while other blocks' numbers are used
# again: amid resizes, releases by other threads, dumps, and in a forked child.
. tests/lib.sh

build young tests/limits/young_call_sites.c
"$W/young" 100000 >"$W/out" 2>"$W/log" || fail "status $?: $(head -n 20 "$W/out" "$W/log")"
cat "$W/out"
equal "lost_call_sites" "$(dump_value "$W/log" 1 lost_call_sites)" 0
