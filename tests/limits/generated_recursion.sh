#!/bin/sh
# A walk through many frames of generated code makes few system calls.
#
# The code may have been unmapped, so a walk asks the kernel about it: once for each page.
. tests/lib.sh

[ "$(uname -m)" = x86_64 ] || skip "the frames are x86's"

for pointers in -fomit-frame-pointer -fno-omit-frame-pointer; do
	build_program_only recursion $pointers -fno-stack-protector -fno-optimize-sibling-calls \
		tests/limits/generated_recursion.c tests/limits/tracer_calls.c \
		-Wl,--wrap=leakwrap_call_kernel
	"$W/recursion" >"$W/out" 2>"$W/log" || fail "$pointers: status $?"
	read -r calls walks <"$W/out"
	echo "$pointers: $calls system calls in $walks walks"
	dump_sites "$W/log" 1 | grep -q '^11 1 guessed allocate;?;?;?;?;' ||
		fail "$pointers: the stack does not go through the code"
	[ "$walks" -ge 5000 ] || fail "$pointers: stacks repeat"
	[ "$calls" -le $((walks * 8)) ] || fail "$pointers: $calls system calls in $walks walks"
done
