#!/bin/sh
# When the tracer's memory is full, every block is in the totals or in the loss.
#
# The program runs on. A freed block makes room again.
. tests/lib.sh
. tests/bare/board.sh

too_large=min_bytes=18446744073709551617
for board in $boards; do
	board_build "$board" full tests/bare/full.c
	board_run "$board" full "$W/log" || fail "$board: status $?: $(tail -n 5 "$W/log")"
	equal "$board: dumps" "$(dumps "$W/log" | wc -l)" 4

	grep '^leakwrap: an option is unknown' "$W/log" | sed 's/.*: //' |
		tr '\n' ' ' >"$W/complaints"
	equal "$board: complaints" "$(cat "$W/complaints")" \
		"colour=1 depth=33 log=/var/log/leaks exit top= blocks=1x $too_large "
	equal "$board: call sites shown" "$(dump_lines "$W/log" 3 | grep -c '^site ')" 5

	blocks=$(dump_value "$W/log" 1 live_blocks)
	untracked=$(dump_value "$W/log" 1 untracked_blocks)
	equal "$board: live and untracked blocks" $((blocks + untracked)) 300
	bytes=$(dump_value "$W/log" 1 live_bytes)
	equal "$board: live and untracked bytes" \
		$((bytes + $(dump_value "$W/log" 1 untracked_bytes))) 4800
	[ "$blocks" -ge 100 ] || fail "$board: room for $blocks blocks, wanted 100"
	[ "$blocks" -lt 300 ] || fail "$board: the table was not full"

	equal "$board: live after all were freed" "$(dump_value "$W/log" 2 live_blocks)" 0
	equal "$board: frees of untracked blocks" "$(dump_value "$W/log" 2 foreign_frees)" \
		$((300 - blocks))

	equal "$board: live blocks of many call sites" "$(dump_value "$W/log" 3 live_blocks)" 40
	equal "$board: live bytes of many call sites" "$(dump_value "$W/log" 3 live_bytes)" 640
	equal "$board: live at exit" "$(dump_value "$W/log" 4 live_bytes)" 0
	truncated=$(dump_value "$W/log" 3 truncated_blocks)
	[ "$truncated" -gt 0 ] || fail "$board: there was room for all call sites"
	echo "$board: $blocks blocks, $truncated of 40 with leaf frames alone," \
		"$(dump_value "$W/log" 3 tracer_bytes) bytes"
done
