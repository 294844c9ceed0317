#!/bin/sh
# While threads exchange blocks, no dump calls a block lost, and the threads go on. An environment
# variable DUMPS asks for more dumps than the usual few.
. tests/lib.sh

for kind in dynamic static; do
	[ $kind = static ] && flags=-static || flags=
	# shellcheck disable=SC2086 # a list of flags
	build $kind tests/reach/threads.c $flags
	LEAKWRAP_OPTIONS="kinds=always:log=$W/$kind.log" "$W/$kind" 16 "${DUMPS:-40}" ||
		fail "$kind: status $?"
	dump_count=$(dumps "$W/$kind.log" | wc -l)
	equal "$kind: dumps" "$dump_count" $((${DUMPS:-40} + 1))
	# A thread that the machine does not let run in time is declared.
	grep -c ' kinds ' "$W/$kind.log" | grep -qx "$dump_count" ||
		grep 'other threads could not be stopped' "$W/$kind.log" ||
		fail "$kind: dumps without kinds"
	! grep ' kinds ' "$W/$kind.log" | grep -v ' definite_bytes=0 definite_blocks=0 ' ||
		fail "$kind: a block is called lost"
done
