#!/bin/sh
# A tracer with more memory has room for no fewer call sites: tables that make walks faster take no
# memory that call sites need.
. tests/lib.sh
. tests/bare/board.sh

for size in 2560 3072 3584 4096 6144; do
	board_build m3 more_memory -DMEMORY=$size tests/bare/more_memory.c
	board_run m3 more_memory "$W/log" || fail "$size: status $?: $(tail -n 5 "$W/log")"
	equal "$size: live blocks" "$(dump_value "$W/log" 1 live_blocks)" 40
	equal "$size: lost call sites" "$(dump_value "$W/log" 1 lost_call_sites)" 0
	equal "$size: call sites" "$(dump_value "$W/log" 1 call_sites)" 10
done
