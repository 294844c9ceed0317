#!/bin/sh
# The stacks of a thread that forked are recognized in the child.
#
# The thread looks like a main thread there, but keeps its own stack. This also holds if the tracer
# had not met the thread before.
. tests/lib.sh

for static in '' -static; do
	build "forked_thread$static" $static tests/process/fork_in_thread.c
	"$W/forked_thread$static" 2>"$W/log" ||
		fail "the stacks$static are not recognized: status $?"
done
LEAKWRAP_OPTIONS=unwind=fp "$W/forked_thread" 2>"$W/log"
equal "truncated" "$(dump_value "$W/log" 1 truncated_blocks)" 0
