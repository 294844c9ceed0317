#!/bin/sh
# The dump signal stays the program's, too: ignored with SA_SIGINFO, reset in a child of vfork or clone, set while another
# thread forks, and as siginterrupt said.
. tests/lib.sh

for static in '' -static; do
	build "sharing$static" -Wno-deprecated-declarations $static tests/signal/shared_with_program.c
	for how in siginfo vfork fork vfork-ignored clone siginterrupt; do
		LEAKWRAP_OPTIONS=exit=0 timeout 60 "$W/sharing$static" $how 2>"$W/log" || fail "$how$static: status $?"
		case $how in
		siginfo) equal "dumps, $how$static" "$(dumps "$W/log" | wc -l)" 2 ;;
		vfork) equal "dumps, $how$static" "$(dumps "$W/log" | wc -l)" 1 ;;
		esac
	done
done
