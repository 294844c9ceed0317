#!/bin/sh
# Where a signal interrupts an entry of the PLT that has no unwind tables, the stack is complete.
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64*) ;;
*) skip "single steps are for x86-64" ;;
esac
build jump -static tests/unwind/jump_through_memory.c
"$W/jump" >"$W/out" 2>"$W/log" || fail "status $?"
steps=$(cat "$W/out")
[ "$steps" -ge 10 ] || fail "only $steps steps"
equal "blocks through copy" "$(site_through "$W/log" 1 copy)" "$((10 * steps)) $steps"
equal "complete" "$(dump_value "$W/log" 1 complete_stack_bytes_percent)" 100.00
