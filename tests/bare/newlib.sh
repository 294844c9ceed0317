#!/bin/sh
# A newlib project as the README has it: its own start code, the linker's default script, board support by --specs=,
# the large and the small C library; the dump comes at the end of the program.
. tests/lib.sh
. tests/bare/board.sh

board_runtime 926
for specs in rdimon.specs "nano.specs --specs=rdimon.specs"; do
	# shellcheck disable=SC2046,SC2086 # lists of flags
	arm-none-eabi-gcc $(board_flags 926) --specs=$specs -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wl,--gc-sections -Iwrap \
		-fno-inline -o "$W/newlib.926" tests/bare/newlib.c \
		$(leakwrap_flags LEAKWRAP_BARE_LDFLAGS LEAKWRAP_BARE_LDLIBS |
			sed "s|$O/libleakwrap.a|$O/bare/926/libleakwrap.a|g") || fail "$specs: cannot link"
	board_run 926 newlib "$W/log" || fail "$specs: status $?: $(tail -n 5 "$W/log")"
	equal "$specs: dumps" "$(dumps "$W/log")" 1.1
	equal "$specs: reason" "$(dump_value "$W/log" 1 reason)" exit
	"$lw" report --format=folded --exe="$W/newlib.926" "$W/log" >"$W/folded" 2>/dev/null
	grep -qx '_mainCRTStartup;main;leak 1234' "$W/folded" || fail "$specs: $(cat "$W/folded")"
	equal "$specs: complete stacks" "$(dump_value "$W/log" 1 complete_stack_bytes_percent)" 100.00
	equal "$specs: lost" "$(dump_lines "$W/log" 1 | sed -n 's/^loss //p')" \
		"untracked_blocks=0 untracked_bytes=0 lost_call_sites=0 freed_elsewhere_blocks=0 foreign_frees=0"
done
