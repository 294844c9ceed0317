#!/bin/sh
# A board without an operating system has the same call sites as every other target.
#
# The program and the vendor's archive are those of tests/targets. The stacks go through C code of
# newlib's kind, without tables and frame pointers.
# timeout: 200
. tests/lib.sh
. tests/targets/target.sh
. tests/bare/board.sh

# newlib's asprintf does not shrink its buffer, so this size differs.
expected=$W/expected
sed 's/^9 1 plant@asprintf/96 1 plant@asprintf/' tests/targets/expected >"$expected"

# shellcheck disable=SC2086 # lists of flags
for board in $boards; do
	compile="arm-none-eabi-gcc $(board_flags "$board") $TARGET_CFLAGS"
	compile="$compile -isystem tests/bare/hosted"
	$compile -c -o "$W/program.o" tests/targets/program.c ||
		fail "$board: cannot compile the program"
	$compile -fomit-frame-pointer -c -o "$W/vendor.o" tests/targets/vendor.c ||
		fail "$board: cannot compile the vendor's"
	board_build "$board" app -isystem tests/bare/hosted -DBOARD_ARGUMENT='"leaks"' \
		"$W/program.o" "$W/vendor.o" \
		tests/bare/hosted/hosted.c
	board_run "$board" app "$W/log" || fail "$board: status $?: $(tail -n 5 "$W/log")"
	equal "$board: dumps" "$(dumps "$W/log" | wc -l)" 2
	for number in 1 2; do
		as_expected "$board, dump $number" "$W/app.$board" "$W/log@$number"
		equal "$board: lost" "$(dump_lines "$W/log" $number | sed -n 's/^loss //p')" \
			"$none_lost"
	done
	equal "$board: complete" "$(dump_value "$W/log" 1 complete_stack_bytes_percent)" 100.00
done
