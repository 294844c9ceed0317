#!/bin/sh
# In a program whose heap lies below 4 GiB, 32 bits are a pointer to a block's first byte. GLib's
# hash tables keep such pointers.
. tests/lib.sh

[ "$(getconf LONG_BIT)" = 64 ] || skip "a word is a pointer of 32 bits"
# The heap lies behind the program, also in a debugger. There no usual number is an address of it:
# 8 MiB is the size of a thread's stack.
for link in -static -no-pie; do
	# shellcheck disable=SC2086 # flags
	build halves tests/reach/halves.c -fno-pie $link -Wl,-Ttext-segment=0x10000000
	LEAKWRAP_OPTIONS="kinds=always:libraries=0:log=$W/log" "$W/halves" ||
		fail "$link: status $?"
	equal "$link: lost" "$(dump_value "$W/log" 1 definite_bytes)" $((4 * 1000 + 7 * 200))
	equal "$link: indirectly lost" "$(dump_value "$W/log" 1 indirect_bytes)" 0
	equal "$link: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" 0
	rm "$W/log"
	# Also with another step.
	LEAKWRAP_OPTIONS="kinds=always:pointer_step=4:libraries=0:log=$W/log" "$W/halves" ||
		fail "$link: status $?"
	equal "$link: lost, by steps" "$(dump_value "$W/log" 1 definite_bytes)" 5400
	rm "$W/log"
	# The search in a core file agrees.
	report_of_core :kinds=always:libraries=0 "$W/halves"
	grep -q 'definitely lost: 5,400 bytes in 11 blocks' "$W/out" ||
		fail "$link: core: $(head "$W/out")"
	rm "$W/core.log" "$W/gcore"
done
