#!/bin/sh
# A thread that is stopped between the walk of its stack and the record of its block keeps its call
# site, though the call sites without blocks are given back meanwhile.
. tests/lib.sh

build stopped tests/limits/stopped_record.c -Wl,--wrap=leakwrap_live_add -pthread
"$W/stopped" 2>"$W/log" || fail "status $?"
equal "the block" "$(site_through "$W/log" 1 leak_in_thread)" "8192 1"
equal "complete stacks" "$(dump_value "$W/log" 1 complete_stack_bytes_percent)" 100.00
