#!/bin/sh
# Stacks are complete behind functions that change the stack, if the tables say where the former
# stack is. A stack that they do not lead to is not searched for.
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64*) ;;
*) skip "the functions are for x86-64" ;;
esac
for how in -pie -static; do
	build "changed$how" $how tests/unwind/changed_stacks.c
	LEAKWRAP_OPTIONS=log=$W/log$how "$W/changed$how" || fail "$how: status $?"
	dump_sites "$W/log$how" 1 >"$W/sites"
	grep ' complete ' "$W/sites" >"$W/complete"
	for site in '300 3 .* leak;inner;call_on;middle;call_on;outer;main;' \
		'1200 3 .* leak;handled;call_on;handle;.*;raise_signal;outer;main;' \
		'600 3 .* leak;middle;call_on;outer;main;' '900 3 .* leak;outer;main;'; do
		grep -q "^$site" "$W/complete" || fail "$how: not '$site': $(cat "$W/sites")"
	done
	grep -q '^300 3 truncated leak;inner;call_on;lost;call_by_two;$' "$W/sites" ||
		fail "$how: not truncated: $(cat "$W/sites")"
done
