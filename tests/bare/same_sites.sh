#!/bin/sh
# The program and the vendor's archive of tests/targets without an operating system: the call sites are the same as
# on every other target, through code without tables and frame pointers, in C of the newlib kind.
# timeout: 200
. tests/lib.sh
. tests/targets/target.sh
. tests/bare/board.sh

# newlib's asprintf leaves its buffer as large as it was.
expected=$W/expected
sed 's/^9 1 plant@asprintf/96 1 plant@asprintf/' tests/targets/expected >"$expected"

# shellcheck disable=SC2086 # lists of flags
for board in $boards; do
	compile="arm-none-eabi-gcc $(board_flags "$board") $TARGET_CFLAGS -isystem tests/bare/hosted"
	$compile -c -o "$W/program.o" tests/targets/program.c || fail "$board: cannot compile the program"
	$compile -fomit-frame-pointer -c -o "$W/vendor.o" tests/targets/vendor.c || fail "$board: cannot compile the vendor's"
	board_build "$board" app -isystem tests/bare/hosted -DBOARD_ARGUMENT='"leaks"' "$W/program.o" "$W/vendor.o" \
		tests/bare/hosted/hosted.c
	board_run "$board" app "$W/log" || fail "$board: status $?: $(tail -n 5 "$W/log")"
	equal "$board: dumps" "$(dumps "$W/log" | wc -l)" 2
	for number in 1 2; do
		as_expected "$board, dump $number" "$W/app.$board" "$W/log@$number"
		equal "$board: lost" "$(dump_lines "$W/log" $number | sed -n 's/^loss //p')" \
			"untracked_blocks=0 untracked_bytes=0 lost_call_sites=0 freed_elsewhere_blocks=0 foreign_frees=0"
	done
	equal "$board: complete" "$(dump_value "$W/log" 1 complete_stack_bytes_percent)" 100.00
done
