#!/bin/sh
# Two million stacks with live blocks, as many as there are numbers, have a call site each, in
# little memory. Further stacks share cut backtraces, no block is lost, and the dump says why.
# timeout: 240
. tests/lib.sh
. tests/limits/bounds.sh

build_program_only stacks tests/limits/new_stacks.c tests/limits/tracer_calls.c \
	-Wl,--wrap=leakwrap_call_kernel

# 64 bytes, and 21 frames of two bytes.
for count in 500000 2000000; do
	LEAKWRAP_OPTIONS=top=1 "$W/stacks" live $count >"$W/out" 2>"$W/live" || fail "status $?"
	at_most "$count: blocks without a call site of their own" \
		$((count - $(dump_value "$W/live" 1 call_sites))) 0
	at_most "$count: truncated_blocks" "$(dump_value "$W/live" 1 truncated_blocks)" 0
	at_most "$count: bytes for a stack" \
		$(($(dump_value "$W/live" 1 tracer_bytes) / count)) $((64 + 2 * 21))
	! grep -q "note the table of call sites" "$W/live" || fail "a note that the table is full"
done

# A later stack that comes again is recognized, though most numbers are taken.  A thread that has
# met so many new stacks learns slowly.
LEAKWRAP_OPTIONS=top=1 "$W/stacks" loop 600000 >"$W/out" 2>"$W/live" || fail "status $?"
read -r calls walks allocations grown <"$W/out"
at_most "a loop beside 600,000 live stacks: walks in $allocations allocations" "$walks" 2000
equal "the loop: truncated_blocks" "$(dump_value "$W/live" 1 truncated_blocks)" 0
# Ten or more of its 600 live blocks have another number, and stand in the same row.  (A compiler
# may make two loops of one: then a block has another stack.)
grep -q " site 1: .* in \(59[5-9]\|600\) blocks, complete" "$W/live" ||
	fail "the loop's blocks are not in one row"

# So is each of 50,000 stacks without live blocks, when it has come often enough.
LEAKWRAP_OPTIONS=top=1 "$W/stacks" again 2000000 >"$W/out" 2>"$W/again" || fail "status $?"
read -r calls walks allocations grown <"$W/out"
at_most "50,000 stacks: walks in $allocations allocations" "$walks" 2000

LEAKWRAP_OPTIONS=top=1 "$W/stacks" live 2600000 >"$W/out" 2>"$W/live" || fail "status $?"
read -r calls walks allocations grown <"$W/out"
at_most "full: system calls in $allocations allocations ($walks walks, $grown bytes)" "$calls" \
	$((allocations / 50))
at_most "full: lost_call_sites" "$(dump_value "$W/live" 1 lost_call_sites)" 0
equal "full: live blocks" "$(dump_value "$W/live" 1 live_blocks)" 2600000
grep -q "note the table of call sites has been full" "$W/live" || fail "no note about the table"

within_bounds
