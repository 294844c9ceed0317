#!/bin/sh
# As many different stacks with live blocks as there are numbers have a call site each, in little
# memory.  Further ones share cut backtraces, no block is lost, and the dump says why.
# timeout: 240
. tests/lib.sh

build_program_only stacks tests/limits/new_stacks.c tests/limits/tracer_calls.c -Wl,--wrap=syscall
failed=

# at_most WHAT GOT LIMIT
at_most() {
	echo "$1: $2"
	[ "$2" -le "$3" ] || failed="$failed; $1 is more than $3"
}

# An entry of 64 bytes, 21 frames of two bytes, and a slot of the live table.
LEAKWRAP_OPTIONS=top=1 "$W/stacks" live 500000 >"$W/out" 2>"$W/live" || fail "status $?"
at_most "blocks without a call site of their own" \
	$((500000 - $(dump_value "$W/live" 1 call_sites))) 0
at_most "truncated_blocks" "$(dump_value "$W/live" 1 truncated_blocks)" 0
at_most "bytes for a stack" $(($(dump_value "$W/live" 1 tracer_bytes) / 500000)) \
	$((64 + 2 * 21 + 4))
! grep -q "note the table of call sites" "$W/live" || fail "a note that the table is full"

LEAKWRAP_OPTIONS=top=1 "$W/stacks" live 1000000 >"$W/out" 2>"$W/live" || fail "status $?"
read -r calls walks allocations grown <"$W/out"
at_most "full: system calls in $allocations allocations ($walks walks, $grown bytes)" "$calls" \
	$((allocations / 50))
at_most "full: lost_call_sites" "$(dump_value "$W/live" 1 lost_call_sites)" 0
equal "full: live blocks" "$(dump_value "$W/live" 1 live_blocks)" 1000000
grep -q "note the table of call sites has been full" "$W/live" || fail "no note about the table"

[ -z "$failed" ] || fail "${failed#; }"
