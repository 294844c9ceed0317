#!/bin/sh
# The functions for signals show the program the same actions with the tracer and without.
#
# This covers flags and masks that the kernel or the C library changes, signals that are discarded
# because they are ignored, calls that a handler or a fault interrupts, and stacks for signals that
# cannot be read.
. tests/lib.sh

for static in '' -static; do
	# shellcheck disable=SC2086 # a list of flags
	build_plain "plain$static" tests/signal/same_actions.c $static -Wno-deprecated-declarations
	# shellcheck disable=SC2086 # a list of flags
	build "traced$static" tests/signal/same_actions.c $static -Wno-deprecated-declarations
	"$W/plain$static" >"$W/plain$static.out"
	equal "exit status, plain$static" $? 0
	for signal in USR1 CHLD CONT URG WINCH TSTP; do
		LEAKWRAP_OPTIONS=signal=$signal "$W/traced$static" >"$W/traced$static.out" \
			2>"$W/traced$static.log"
		equal "exit status, traced$static, $signal" $? 0
		cmp "$W/plain$static.out" "$W/traced$static.out" || {
			diff "$W/plain$static.out" "$W/traced$static.out" | head -n 20
			fail "the program sees something else, $signal"
		}
	done
done
