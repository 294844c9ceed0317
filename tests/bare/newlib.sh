#!/bin/sh
# A newlib project relinks as leakwrap-bare(7) says, and dumps at the end of the program.
#
# The project has its own start code, the linker's default script, and board support by --specs=.
# The C library is newlib's large or its small one.
. tests/lib.sh
. tests/bare/board.sh

# flags VARIABLE...: prints the linker flags for this board.
flags() {
	leakwrap_flags "$@" | sed "s|$O/libleakwrap.a|$O/bare/926/libleakwrap.a|g"
}

# ran HOW STACK BYTES: runs the program. Its dump must have BYTES at STACK.
ran() {
	board_run 926 newlib "$W/log" || fail "$1: status $?: $(tail -n 5 "$W/log")"
	equal "$1: dumps" "$(dumps "$W/log")" 1.1
	equal "$1: reason" "$(dump_value "$W/log" 1 reason)" exit
	"$lw" report --format=folded --exe="$W/newlib.926" "$W/log" >"$W/folded" 2>/dev/null
	grep -qx "$2 $3" "$W/folded" || fail "$1: $(cat "$W/folded")"
	equal "$1: complete stacks" "$(dump_value "$W/log" 1 complete_stack_bytes_percent)" 100.00
	equal "$1: lost" "$(dump_lines "$W/log" 1 | sed -n 's/^loss //p')" \
		"$none_lost"
}

compile="$(board_flags 926) -O2 -g -Wall -Wextra -Werror -Wl,--gc-sections -I. -Iwrap -fno-inline"
board_runtime 926

# newlib's functions hold addresses of constants between their parts. With this start address, such
# a word looks like an instruction that sets sp: "andeq sp, r2, ...".
looks_like_code=-Wl,--section-start=.rodata=0x2d000

# shellcheck disable=SC2046,SC2086 # lists of flags
for specs in rdimon.specs "nano.specs --specs=rdimon.specs"; do
	for place in '' $looks_like_code; do
		arm-none-eabi-gcc $compile --specs=$specs $place -std=gnu11 -o "$W/newlib.926" \
			tests/bare/newlib.c \
			$(flags LEAKWRAP_BARE_LDFLAGS LEAKWRAP_BARE_LDLIBS) ||
			fail "$specs: cannot link"
		ran "$specs $place" '_mainCRTStartup;main;leak' 1234
	done

	arm-none-eabi-gcc $compile -std=gnu11 -c -o "$W/newlib.o" tests/bare/newlib.c ||
		fail "cannot compile"
	arm-none-eabi-g++ $compile --specs=$specs -fno-exceptions -o "$W/newlib.926" \
		tests/bare/newlib.cpp "$W/newlib.o" \
		$(flags LEAKWRAP_BARE_LDFLAGS LEAKWRAP_BARE_CXX_LDLIBS) ||
		fail "C++, $specs: cannot link"
	ran "C++, $specs" '_mainCRTStartup;main;in_cxx' 120

	# shellcheck disable=SC2046,SC2086 # lists of flags
	arm-none-eabi-gcc $compile --specs=$specs -std=gnu11 -o "$W/newlib.926" \
		tests/bare/newlib_bins.c $(flags LEAKWRAP_BARE_LDFLAGS LEAKWRAP_BARE_LDLIBS) ||
		fail "$specs: cannot link newlib_bins"
	board_run 926 newlib "$W/log" || fail "bins, $specs: status $?"
	# An address may be left on the stack.
	[ "$(dump_value "$W/log" 1 definite_blocks)" -ge 5 ] ||
		fail "bins, $specs: $(grep ' kinds ' "$W/log")"
done
