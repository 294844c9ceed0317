#!/bin/sh
# On a board without an operating system, each planted leak is found at its place.
#
# The boards are Cortex-M3, M0 and A9, and ARM926, linked with newlib's own libc.a. The tool on this
# machine reports the same bytes and blocks for each.
# timeout: 200
. tests/lib.sh
. tests/bare/board.sh

# Prints "BYTES BLOCKS FUNCTION TEXT" for each leak. TEXT is in the leak's line of leaks.c. The size
# of asprintf's buffer depends on newlib.
expected() {
	cat <<'END'
120 3 by_malloc kept = malloc(40)
150 1 by_calloc calloc(3, 50)
1000 1 by_realloc realloc(malloc(10), 1000)
200000 1 by_large_realloc realloc(malloc(10), 200000)
96 1 by_memalign memalign(64, 96)
22 1 by_strdup kept = strdup(
77 1 by_malloc_r _malloc_r(_REENT, 77)
33 1 by_rtos pvPortMalloc(33)
66 1 by_rtos pvPortCalloc(6, 11)
64 1 deeper malloc(64)
24 1 by_callback malloc(24)
55 1 by_interrupt malloc(55)
END
}

expected | while read -r bytes blocks function text; do
	line=$(grep -n -F "$text" tests/bare/leaks.c | head -n 1 | cut -d : -f 1)
	echo "$bytes $blocks $function leaks.c:$line"
done | sort >"$W/wanted"

for board in $boards; do
	board_build "$board" leaks tests/bare/leaks.c
	board_run "$board" leaks "$W/log" || fail "$board: status $?: $(tail -n 5 "$W/log")"
	equal "$board: dumps" "$(dumps "$W/log" | wc -l)" 2 # on request, and at exit
	for loss in untracked_blocks lost_call_sites freed_elsewhere_blocks foreign_frees; do
		equal "$board: $loss" "$(dump_value "$W/log" 1 $loss)" 0
	done
	board_sites leaks."$board" "$W/log@1" >"$W/sites"
	sed 's/^\([0-9]* [0-9]*\) [a-z]*/\1/' "$W/sites" |
		grep -v "__smakebuf_r\|by_asprintf" >"$W/got"
	diff "$W/wanted" "$W/got" >"$W/difference" ||
		fail "$board: wanted (<), got (>): $(cat "$W/difference")"
	equal "$board: of newlib itself" "$(grep -c ' __smakebuf_r ' "$W/sites")" 1
	equal "$board: marked as the system's" \
		"$(grep '"origin":"system_library"' "$W/json" | grep -c __smakebuf_r)" 1
	equal "$board: asprintf" "$(grep -c '^[0-9]* 1 [a-z]* by_asprintf ' "$W/sites")" 1
	percent=$(dump_value "$W/log" 1 complete_stack_bytes_percent)
	equal "$board: complete stacks" "$percent" 100.00

	# These stacks go through newlib's code, which has neither tables nor frame pointers.
	"$lw" report --format=folded --exe="$W/leaks.$board" "$W/log@1" >"$W/folded"
	for stack in 'reset;start;main;by_malloc 120' \
		'reset;start;main;below_qsort;qsort;.*by_callback 24' \
		'reset;start;main;deeper;deeper;deeper;deeper;deeper;deeper 64' \
		'reset;start;main;.*puts_r;.*;__smakebuf_r 1024'; do
		grep -qx "$stack" "$W/folded" || fail "$board: no '$stack': $(cat "$W/folded")"
	done
	echo "$board: $percent % of the live bytes have complete stacks"
done
