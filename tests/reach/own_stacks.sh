#!/bin/sh
# What the program keeps in memory that was the stack of a thread is reachable, if the program
# itself has mapped the stack. The search in a core file agrees.
. tests/lib.sh

for kind in -pie -static; do
	build own_stacks tests/reach/own_stacks.c $kind
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:exit=0:log=$W/log" "$W/own_stacks" || fail "$kind: status $?"
	grep -q ' kinds definite_bytes=0 definite_blocks=0 ' "$W/log" ||
		fail "$kind: $(grep ' kinds ' "$W/log")"
done
report_of_core '' "$W/own_stacks"
grep -q 'definitely lost: 0 bytes in 0 blocks' "$W/out" || fail "core: $(head -n 20 "$W/out")"
