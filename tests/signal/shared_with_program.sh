#!/bin/sh
# The program keeps its use of the dump signal in the cases that a tracer easily gets wrong.
#
# It ignores the signal with SA_SIGINFO, resets it in a child of vfork or clone, sets it while
# another thread forks, and calls siginterrupt.
. tests/lib.sh

for static in '' -static; do
	build "sharing$static" -Wno-deprecated-declarations $static \
		tests/signal/shared_with_program.c
	for how in siginfo vfork fork vfork-ignored clone siginterrupt; do
		LEAKWRAP_OPTIONS=exit=0 timeout 60 "$W/sharing$static" $how 2>"$W/log" ||
			fail "$how$static: status $?"
		case $how in
		siginfo) equal "dumps, $how$static" "$(dumps "$W/log" | wc -l)" 2 ;;
		vfork) equal "dumps, $how$static" "$(dumps "$W/log" | wc -l)" 1 ;;
		esac
	done
done
