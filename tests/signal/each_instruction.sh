#!/bin/sh
# A signal at any instruction of the wrappers, whose handler allocates, changes no record.
# timeout: 60
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64*) ;;
*) skip "steps through x86-64 programs only" ;;
esac
build traced tests/signal/each_instruction.c
for kind in small large resize dump; do
	log=$W/$kind.log
	LEAKWRAP_OPTIONS=exit=0:log=$log "$W/traced" $kind >"$W/out"
	status=$?
	[ $status -ne 77 ] || skip "ptrace(2) is not allowed here"
	[ $status -eq 0 ] || fail "$kind: status $status"
	read -r child signals <"$W/out"
	[ "$signals" -gt 1000 ] || fail "$kind: only $signals signals"
	last=$(dumps "$log" | grep "^$child\." | tail -n 1)
	equal "$kind: resized" "$(site_by "$log" "$last" resizes)" "9340 3"
	equal "$kind: allocated" "$(site_by "$log" "$last" allocates)" "0 0"
	equal "$kind: lost" "$(dump_lines "$log" "$last" | grep ^loss)" "loss $none_lost"
done
