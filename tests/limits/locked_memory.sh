#!/bin/sh
# The tracer leaves a program the memory that it may lock.
. tests/lib.sh

build_program_only locked tests/limits/locked_memory.c
build_plain plain tests/limits/locked_memory.c

"$W/plain" >"$W/plain.out" || skip "memory cannot be locked here"
"$W/locked" >"$W/out" 2>"$W/log" || fail "status $?"
untraced=$(cat "$W/plain.out") traced=$(cat "$W/out")
echo "blocks untraced: $untraced, traced: $traced"
[ "$traced" -ge $((untraced - untraced / 50)) ] || fail "the tracer took the program's memory"
equal "recorded blocks" "$(dump_value "$W/log" 1 live_blocks)" "$traced"
