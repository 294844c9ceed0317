#!/bin/sh
# What a pattern or a set of characters of fontconfig holds by distances is reachable.  Of blocks
# that look like them, and of a pool's header, what they seem to hold is lost.  Distances have 64
# bits or 32.
. tests/lib.sh

build blocks tests/reach/held_by_distance.c
# Seven arrays of elements, and four sets with two arrays and five leaves each.
lost=$((7 + 4 * 7))
lost_blocks "$W/blocks" $lost 0

triple=i686-linux-gnu
loader=/usr/$triple/lib/ld-linux.so.2
"$loader" --verify "$loader" >"$W/found" 2>&1 || [ $? -lt 126 ] ||
	skip "$triple is left out: this machine does not run its programs"
runtime "$triple" CROSS_COMPILE="$triple-"
# shellcheck disable=SC2046,SC2086 # lists of flags
"$triple-gcc" $CFLAGS_FOR_TESTS -static -o "$W/i386" tests/reach/held_by_distance.c \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) -pthread 2>"$W/link" ||
	fail "$triple: $(tail -n 5 "$W/link")"
rm -f "$W/log" "$W/core.log" "$W/gcore"
lost_blocks "$W/i386" $lost 0
