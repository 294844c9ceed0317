#!/bin/sh
# A program whose assembler code misaligns the stack runs as it does untraced.
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64-*) ;;
*) skip "assembler code for x86-64" ;;
esac

# runs PROGRAM: with each kind of recording, prints what it should, and shows its leaks.
runs() {
	for options in crash=0 crash=1:kinds=always:peak=1 misuse=report allocated=1 sample=1K \
		'dump_at="live:1K"'; do
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log:$options "$1" >"$W/out" ||
			fail "$1 $options: status $?"
		equal "$1 $options: printed" "$(cat "$W/out")" "1.25 3 -7.50"
		last=$(dumps "$W/log" | tail -n 1)
		case $options in
		sample*) ;;
		*) equal "$1 $options" "$(own_sites "$W/log" "${last#*.}")" "49575 20" ;;
		esac
	done
}

build dynamic tests/alloc/misaligned_stack.c
runs "$W/dynamic"
build static -static tests/alloc/misaligned_stack.c
runs "$W/static"
build_program_only alone tests/alloc/misaligned_stack.c
runs "$W/alone"
